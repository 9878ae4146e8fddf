/**
 * A big team at rest over a big board, and a chain of tasks through it: each is waited for by the next, so that what
 * is measured is how soon a completed task's dependent is taken. Models answer at once, in the process.
 * Arguments: workspace, storage, teammates, tasks, seconds at rest.
 */
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Core } from '../src/agent/coreApi';
import type { AssistantBlock, LanguageModel, ModelRequest } from '../src/model/port';
import { argument, report } from './support/child';
import { nodding } from './support/models';
import type { BoardReport } from './support/reports';
import { IDLE_TIMEOUT_MS, openTeam } from './support/team';

const GIVEN = /You have taken task (t\d+) from the board/g;
/** As many bytes as the record of a claim has. */
const RECORD_BYTES = 320;
const RAW_APPENDS = 300;

report(async (): Promise<BoardReport> => {
  const folder = { workspace: argument(0, 'workspace'), storage: argument(1, 'storage') };
  const teammates = Number(argument(2, 'teammates'));
  const tasks = Number(argument(3, 'tasks'));
  const restSeconds = Number(argument(4, 'seconds at rest'));
  const core = await openTeam(folder, (member) => (member === 'lead' ? nodding : worker()));
  const empty = heapBytes();
  for (let n = 1; n <= teammates; n++) {
    await core.spawn({ name: `member-${n}`, role: 'bench', prompt: 'Wait for tasks.' }, 'human');
  }
  await core.whenIdle(IDLE_TIMEOUT_MS);
  const memberBytes = (heapBytes() - empty) / teammates;
  const transcriptBytes = (await folderBytes(path.join(folder.storage, 'transcripts'))) / (teammates + 1);

  for (let n = 1; n <= tasks; n++) {
    const blockedBy = n === 1 ? [] : [`t${n - 1}`];
    await core.createTask({ subject: `Task ${n}`, description: 'A link of the chain.', blockedBy });
    // Held until all are there; nobody takes a blocked one.
    if (n === 1) await core.updateTask('t1', { status: 'blocked', reason: 'Not yet.' });
  }
  await core.whenIdle(IDLE_TIMEOUT_MS);

  const before = process.cpuUsage();
  await delay(restSeconds * 1000);
  const cpu = process.cpuUsage(before);

  const { claimMs, syncedMs } = await chain(core, tasks);
  await core.dispose();
  return {
    restCpuMs: (cpu.user + cpu.system) / 1000,
    memberBytes,
    transcriptBytes,
    claimMs,
    syncedMs,
    rawAppendMs: await rawAppends(folder.storage),
  };
});

/** Lets the chain run to its end, with the times from a call of complete_task, and from its record, to the next claim. */
async function chain(core: Core, tasks: number): Promise<{ claimMs: number[]; syncedMs: number[] }> {
  const claimMs: number[] = [];
  const syncedMs: number[] = [];
  let called = 0;
  let completed = 0;
  const ended = new Promise<void>((resolve) => {
    core.on((event) => {
      const now = performance.now();
      if (event.type === 'tool_started' && event.name === 'complete_task') called = now;
      if (event.type !== 'task') return;
      if (event.change === 'claimed' && completed > 0) {
        claimMs.push(now - called);
        syncedMs.push(now - completed);
      } else if (event.change === 'completed') {
        completed = now;
        if (event.id === `t${tasks}`) resolve();
      }
    });
  });
  await core.updateTask('t1', { status: 'pending' });
  await ended;
  await core.whenIdle(IDLE_TIMEOUT_MS);
  const open = core.tasks().filter(({ status }) => status !== 'completed').length;
  if (open > 0) throw new Error(`${open} tasks are not completed.`);
  return { claimMs, syncedMs };
}

/** A teammate that completes what it is given, and says one word. */
function worker(): LanguageModel {
  return {
    label: 'Bench',
    isDemo: false,
    async call(request) {
      const content = answer(request);
      const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
      const stopReason = content[0]?.type === 'tool_use' ? 'tool_use' : 'end_turn';
      return { content, stopReason, usage, model: 'bench' };
    },
  };
}

let calls = 0;

function answer({ messages }: ModelRequest): AssistantBlock[] {
  const last = messages.at(-1);
  const texts = last?.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])) ?? [];
  const id = [...texts.join('\n').matchAll(GIVEN)].at(-1)?.[1];
  if (id === undefined) return [{ type: 'text', text: 'Noted.' }];
  calls += 1;
  return [
    { type: 'tool_use', id: `call-${calls}`, name: 'complete_task', input: { task_id: id, result: 'Done.' } },
  ];
}

/** What is in use after a collection. */
function heapBytes(): number {
  if (globalThis.gc === undefined) throw new Error('Run with --expose-gc.');
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

async function folderBytes(dir: string): Promise<number> {
  const sizes = await Promise.all(
    (await fs.readdir(dir)).map(async (name) => (await fs.stat(path.join(dir, name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Plain appends with `fdatasync`, on the same disk: what a claim has to wait for at the least. */
async function rawAppends(storage: string): Promise<number[]> {
  const file = await fs.open(path.join(storage, 'raw'), 'w');
  const bytes = Buffer.alloc(RECORD_BYTES, 0x2e);
  const times: number[] = [];
  for (let n = 0; n < RAW_APPENDS; n++) {
    const begun = performance.now();
    await file.write(bytes, 0, bytes.length, n * bytes.length);
    await file.datasync();
    times.push(performance.now() - begun);
  }
  await file.close();
  return times;
}
