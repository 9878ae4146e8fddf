import { randomUUID } from 'node:crypto';
import { watch } from 'node:fs';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { hasCode } from './errors';

/**
 * Runs `work` while holding a lock file, so that concurrent runs do not do the same work twice. The file
 * holds its owner's process id; a lock whose owner has died is taken over.
 * @param onWait called once when another process holds the lock
 */
export async function withLock<T>(file: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  for (let waited = false; ; waited = true) {
    // Watched from before the try, so that a release just after it is not missed.
    const change = nextChange(file);
    if (await tryLock(file)) {
      change.stop();
      break;
    }
    if (!waited) onWait();
    await change.happened;
  }
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function tryLock(file: string): Promise<boolean> {
  // Written first and linked then, so that no one ever reads a lock without an owner.
  const own = `${file}.${randomUUID()}`;
  await writeFile(own, String(process.pid));
  try {
    for (;;) {
      if (await linkIfFree(own, file)) return true;
      if (await ownerIsAlive(file)) return false;
      await rm(file, { force: true });
    }
  } finally {
    await rm(own, { force: true });
  }
}

async function linkIfFree(own: string, file: string): Promise<boolean> {
  try {
    await link(own, file);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

async function ownerIsAlive(file: string): Promise<boolean> {
  try {
    return isAlive(Number(await readFile(file, 'utf8')));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/** Whether a process of this id runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/** The next time the file may have gone, or a second from now: the death of an owner is no file event. */
function nextChange(file: string): { happened: Promise<void>; stop: () => void } {
  const { promise, settle } = signal();
  const watcher = watch(dirname(file), (_event, name) => {
    if (name === null || name === basename(file)) stop();
  });
  // Where the folder cannot be watched the timer alone must do.
  watcher.once('error', () => watcher.close());
  const timer = setTimeout(stop, 1_000);
  function stop(): void {
    clearTimeout(timer);
    watcher.close();
    settle();
  }
  return { happened: promise, stop };
}

function signal(): { promise: Promise<void>; settle: () => void } {
  let settle: () => void = () => undefined;
  const promise = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { promise, settle };
}
