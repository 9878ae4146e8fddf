import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callName } from '../../src/team/calls';
import { findMarked, MARK_NAME, newMark } from '../../src/workspace/markedProcesses';
import { createNodeWorkspace } from '../../src/workspace/node';
import type { Workspace } from '../../src/workspace/port';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam } from './support/team';

const LONG_MS = 180_000;
/** Leaves its group and its session at once, and says who it is. */
const ESCAPE =
  "setsid sh -c 'echo $$ > escaped; exec sleep 1000' & until [ -s escaped ]; do sleep 0.01; done";

/** Only Linux shows the environment of a process to others. */
const onLinux = process.platform === 'linux' ? describe : describe.skip;

onLinux('processes that left the group of their command', function () {
  this.timeout(60_000);
  let root: string;
  let workspace: Workspace;
  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'handshake-left-')));
    workspace = createNodeWorkspace(root, { killGraceMs: 200 });
  });
  afterEach(async () => {
    await closeTeams();
    await rm(root, { recursive: true, force: true });
  });

  const escaped = async (dir = root) => Number(await readFile(join(dir, 'escaped'), 'utf8'));
  const isRunning = async (pid: number) => {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => ') Z ');
    return !/\) [ZX] /.test(stat);
  };

  for (const reason of ['stop', 'interrupt']) {
    it(`are ended with it at an abort with the reason ${reason}`, async () => {
      const controller = new AbortController();
      const running = workspace.forMember('alice').runCommand(`${ESCAPE}; touch started; sleep 1000`, {
        timeoutMs: LONG_MS,
        signal: controller.signal,
      });
      await untilThere(join(root, 'started'));
      const pid = await escaped();
      assert.equal(await isRunning(pid), true);
      controller.abort(reason);
      assert.equal((await running).aborted, true);
      assert.equal(await isRunning(pid), false);
    });
  }

  it('are ended with it at the time-out, also those that heed no TERM and clear their environment', async () => {
    const deaf = `sh -c "trap '' TERM; echo \\$\\$ > escaped; env -i sh -c 'echo \\$\\$ > cleared; while :; do sleep 0.1; done'; :"`;
    const outcome = await workspace
      .forMember('alice')
      .runCommand(`setsid ${deaf} & until [ -s cleared ]; do sleep 0.01; done; sleep 1000`, {
        timeoutMs: 1500,
        signal: new AbortController().signal,
      });
    assert.equal(outcome.timedOut, true);
    assert.equal(await isRunning(await escaped()), false);
    assert.equal(await isRunning(Number(await readFile(join(root, 'cleared'), 'utf8'))), false);
  });

  it('go on when the command ended by itself: it may have meant to leave a daemon', async () => {
    const signal = new AbortController().signal;
    await workspace.forMember('alice').runCommand(ESCAPE, { timeoutMs: LONG_MS, signal, call: 'x' });
    const pid = await escaped();
    assert.equal(await isRunning(pid), true);
    assert.deepEqual(await workspace.endLeftovers?.(['y', '']), [], 'another call’s are left alone');
    assert.equal(await isRunning(pid), true);
    const ended = await workspace.endLeftovers?.(['x']);
    assert.deepEqual(ended, [`sleep (process ${pid})`]);
    assert.equal(await isRunning(pid), false);
  });

  it('have nothing to do with another mark that begins like theirs', async () => {
    const child = spawn('sleep', ['1000'], { env: { ...process.env, [MARK_NAME]: newMark('ab') } });
    try {
      await once(child, 'spawn');
      assert.deepEqual(await findMarked('a.'), []);
      assert.equal((await findMarked('ab.')).length, 1);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('are ended by Force Stop before it is done', async () => {
    const model = new ScriptedModel({}).always('lead', [text('Seen.')]);
    model.add('alice', [call('bash', { command: `${ESCAPE}; touch started; sleep 1000` })]);
    const team = await openTeam(model, { permissionMode: 'allow' });
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await untilThere(join(team.root, 'started'));
    const pid = await escaped(team.root);
    await team.core.forceStop('alice');
    assert.equal(team.core.member('alice')?.status, 'shutdown');
    assert.equal(await isRunning(pid), false);
  });

  it('of a window that was killed are ended and named when it opens again, and only they', async () => {
    const model = new ScriptedModel({}).always('lead', [text('Seen.')]);
    model.always('alice', [text('Ready.')]);
    model.add('alice', [call('bash', { command: 'touch started; sleep 1000' })]);
    const team = await openTeam(model, { permissionMode: 'allow' });
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await untilThere(join(team.root, 'started'));
    // The mirror is written behind the team.
    await untilThere(join(team.root, '.team', 'config.json'));
    const { team_id } = await team.config();
    const [running] = await findMarked(encodeURIComponent(`${team_id}/alice#1/`));
    assert.ok(running);
    // What the window leaves when it is killed now: its files, and the process that nobody waits for.
    const again = await team.reopenAfterCrash(model);
    assert.match(again.notices().join('\n'), /A command of alice was still running.*It was ended: /);
    assert.equal(await isRunning(running.pid), false);
    assert.equal(callName('t', { member: 'alice', incarnation: 1, id: 'c' }), 't/alice#1/c');
  });
});

async function untilThere(file: string): Promise<void> {
  for (;;) {
    const text = await readFile(file).catch(() => undefined);
    if (text !== undefined) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
