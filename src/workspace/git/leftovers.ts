import { createHash, randomBytes } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { errorCode } from '../failures';
import { callMark, endMarked } from '../markedProcesses';

/**
 * Files of ours beside the index of a checkout, which stay there when the window is killed. Their names say who made
 * them: another window, or another machine that has the folder mounted, may be at work with its own.
 */
const NAMED = /^index\.handshake-([0-9a-f]{8})-(\d+)-[0-9a-f]{12}(\.lock)?$/;
/** As they were named before, without a word about whose they are. */
const UNNAMED = /^index\.handshake-[0-9a-f]{12}(\.lock)?$/;
/** No command of ours takes that long. */
const OLD_MS = 24 * 60 * 60_000;
const END_GRACE_MS = 1000;

const MACHINE = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
/** An earlier process may have had the number of this one, as it does in a container that was started again. */
const inUse = new Set<string>();

/** @returns the end of a file's name, behind `index.`; {@link doneWith} says when it is not used any more */
export function newScratchName(): string {
  const name = `handshake-${MACHINE}-${process.pid}-${randomBytes(6).toString('hex')}`;
  inUse.add(name);
  return name;
}

/** Names what git is asked for on such a file, on this machine. */
export function scratchCall(name: string): string {
  return `scratch ${name}`;
}

export function doneWith(name: string): void {
  inUse.delete(name);
}

/**
 * Removes what windows that are gone have left in a folder of git's; nothing else.
 * @returns the names of what was removed
 */
export async function clearLeftovers(folder: string): Promise<string[]> {
  const removed: string[] = [];
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    if (!(await isLeft(path, name))) continue;
    // What still works on it would bring it back; nobody waits for its answer.
    await endMarked(callMark(scratchCall(scratchOf(name))), END_GRACE_MS);
    await rm(path, { force: true });
    removed.push(name);
  }
  return removed;
}

function scratchOf(file: string): string {
  return file.replace(/^index\.|\.lock$/g, '');
}

async function isLeft(path: string, name: string): Promise<boolean> {
  const [, machine, pid] = NAMED.exec(name) ?? [];
  if (machine === MACHINE && Number(pid) === process.pid) {
    return !inUse.has(scratchOf(name));
  }
  if (machine === MACHINE && !isRunning(Number(pid))) return true;
  if (machine === undefined && !UNNAMED.test(name)) return false;
  try {
    // Not the time of its content, which is that of the index it was copied from.
    return Date.now() - (await stat(path)).ctimeMs > OLD_MS;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.startsWith('index.handshake-'));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
