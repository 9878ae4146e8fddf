import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from './failures';

/**
 * Everything that a command starts inherits its environment, also what leaves its process group (`setsid`) and what
 * outlives the window that started it. So each command carries a mark of its own there. Only Linux shows the
 * environment of a process to others of the same user; elsewhere nothing is found.
 */
export const MARK_NAME = 'HANDSHAKE_CALL';

/** What one call started in between two looks is found by the next one; so many looks are enough for what only forks. */
const ROUNDS = 20;
const PAUSE_MS = 20;
/** The whole process table is read for each look. */
const PATIENT_PAUSE_MS = 100;

/** A process that carries a mark, or was started by one that does. */
export interface MarkedProcess {
  pid: number;
  /** As the system calls it, at most 15 characters. */
  name: string;
  group: number;
}

/** The beginning of the marks of a call, followed by something of each start's own. */
export function callMark(call: string): string {
  return `${encodeURIComponent(call)}.`;
}

/** The mark of one start of a command. */
export function newMark(call = ''): string {
  return `${callMark(call)}${randomUUID()}`;
}

/** What runs with a mark that begins so, and what that has started. */
export async function findMarked(beginning: string): Promise<MarkedProcess[]> {
  if (process.platform !== 'linux') return [];
  const all = (await Promise.all((await pids()).map((pid) => look(pid, beginning)))).flatMap(
    (one) => one ?? [],
  );
  const marked = new Set(all.filter((one) => one.isMarked).map((one) => one.pid));
  // One that cleaned its environment is known by who started it, as long as that one lives.
  for (let before = -1; before !== marked.size; ) {
    before = marked.size;
    for (const { pid, parent } of all) if (marked.has(parent)) marked.add(pid);
  }
  marked.delete(process.pid);
  return all.filter(({ pid }) => marked.has(pid)).map(({ pid, name, group }) => ({ pid, name, group }));
}

/**
 * Ends all that carries such a mark: asks it first, and kills it after the grace period.
 * @param graceMs milliseconds; 0 kills at once
 * @param asked a process group that somebody else asks
 * @returns what was found
 */
export async function endMarked(
  beginning: string,
  graceMs: number,
  asked?: number,
): Promise<MarkedProcess[]> {
  const found = new Map<number, MarkedProcess>();
  const deadline = performance.now() + graceMs;
  let hard = 0;
  while (hard < ROUNDS) {
    const running = await findMarked(beginning);
    if (running.length === 0) break;
    const isHard = performance.now() >= deadline;
    if (isHard) hard += 1;
    for (const one of running) {
      if (isHard) signal(one.pid, 'SIGKILL');
      else if (!found.has(one.pid) && one.group !== asked) signal(one.pid, 'SIGTERM');
      found.set(one.pid, one);
    }
    await delay(isHard ? PAUSE_MS : Math.min(PATIENT_PAUSE_MS, graceMs));
  }
  return [...found.values()];
}

/**
 * Lets what carries such a mark end by itself; the system tells nobody when it has.
 * @returns whether there is nothing of it any more
 */
export async function goneWithin(beginning: string, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  while ((await findMarked(beginning)).length > 0) {
    if (performance.now() >= deadline) return false;
    await delay(PATIENT_PAUSE_MS);
  }
  return true;
}

async function pids(): Promise<string[]> {
  try {
    return (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  } catch {
    // Without a process table there is nothing to be found.
    return [];
  }
}

async function look(pid: string, beginning: string) {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    // pid (name) state ppid pgrp …; the name may hold anything.
    const end = stat.lastIndexOf(')');
    const [state, parent, group] = stat.slice(end + 2).split(' ');
    if (state === 'Z' || state === 'X') return undefined;
    const name = stat.slice(stat.indexOf('(') + 1, end);
    const isMarked = hasMark(await environmentOf(pid), beginning);
    return { pid: Number(pid), parent: Number(parent), group: Number(group), name, isMarked };
  } catch {
    // It ended since the folder was listed.
    return undefined;
  }
}

async function environmentOf(pid: string): Promise<string> {
  try {
    return await readFile(`/proc/${pid}/environ`, 'latin1');
  } catch {
    // Another user's; such a process is no child of ours that could be ended.
    return '';
  }
}

function hasMark(environment: string, beginning: string): boolean {
  return `\0${environment}`.includes(`\0${MARK_NAME}=${beginning}`);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}
