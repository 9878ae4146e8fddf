import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from './failures';

/** The system tells nobody when a group has become empty, so it is asked this often. */
const POLL_MS = 10;
/** How long a killed process may take to go; one that hangs in the kernel never does. */
const KILL_WAIT_MS = 1000;

/** A child and everything it started, as far as that did not leave the group. */
export class ProcessGroup {
  #ending: Promise<void> | undefined;

  /** @param pid of the child, which leads a process group of its own (on Windows: a process tree) */
  constructor(readonly pid: number) {}

  /**
   * Asks the group to end and kills what is left after the grace period; without one it is killed at once.
   * @param graceMs milliseconds
   * @returns when it is gone, or cannot be ended
   */
  end(graceMs: number): Promise<void> {
    this.#ending ??= process.platform === 'win32' ? this.#endTree() : this.#endGroup(graceMs);
    return this.#ending;
  }

  /** @returns whether the group was empty before `ms` milliseconds were over */
  async goneWithin(ms: number): Promise<boolean> {
    // Windows has no groups to ask; there the tree goes with `end`.
    if (process.platform === 'win32') return true;
    const deadline = performance.now() + ms;
    while (this.#signal(0) && (await hasRunningMember(this.pid))) {
      if (performance.now() >= deadline) return false;
      await delay(POLL_MS);
    }
    return true;
  }

  async #endGroup(graceMs: number): Promise<void> {
    if (graceMs > 0) {
      this.#signal('SIGTERM');
      if (await this.goneWithin(graceMs)) return;
    }
    this.#signal('SIGKILL');
    await this.goneWithin(KILL_WAIT_MS);
  }

  #endTree(): Promise<void> {
    return new Promise((resolve) => {
      const killer = spawn('taskkill', ['/pid', String(this.pid), '/t', '/f'], {
        stdio: 'ignore',
        windowsHide: true,
      });
      killer.once('error', () => resolve());
      killer.once('close', () => resolve());
    });
  }

  /** @returns whether there is a group that could be reached */
  #signal(signal: NodeJS.Signals | 0): boolean {
    try {
      process.kill(-this.pid, signal);
      return true;
    } catch (error) {
      // ESRCH: it is gone. EPERM: what is left of it belongs to another user, or only waits to be reaped.
      const code = errorCode(error);
      if (code === 'ESRCH' || code === 'EPERM') return false;
      throw error;
    }
  }
}

/**
 * Whether a process of the group still runs. Ended ones that nobody reaps count as members for the system,
 * and in a container whose first process reaps nobody they stay for ever; only Linux tells them apart.
 */
async function hasRunningMember(group: number): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  let names: string[];
  try {
    names = await readdir('/proc');
  } catch {
    // Without a process table the signal's answer has to do.
    return true;
  }
  const pids = names.filter((name) => /^\d+$/.test(name));
  const members = await Promise.all(pids.map((pid) => isRunningMember(pid, group)));
  return members.includes(true);
}

async function isRunningMember(pid: string, group: number): Promise<boolean> {
  let stat: string;
  try {
    stat = await readFile(`/proc/${pid}/stat`, 'latin1');
  } catch {
    // It ended since the folder was listed.
    return false;
  }
  // pid (name) state ppid pgrp …; the name may hold anything.
  const [state, , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return processGroup === String(group) && state !== 'Z' && state !== 'X';
}
