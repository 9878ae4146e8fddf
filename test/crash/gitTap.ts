import childProcess, { type ChildProcess, type SpawnOptions } from 'node:child_process';
import { mock } from 'node:test';
import type { Moment } from './order';

/**
 * Makes each git command of this process a step that it can end at.
 * @param next asked before each; what it answers is when to end: before the command, while it runs (it then goes on
 * alone, as it does where a window is killed), or when it has ended and nobody has heard of that
 * @param end ends this process at once
 */
export function tapGit(next: () => Moment | undefined, end: () => void): void {
  const spawn = childProcess.spawn.bind(childProcess);
  mock.method(
    childProcess,
    'spawn',
    (command: string, args: readonly string[], options: SpawnOptions): ChildProcess => {
      const moment = command === 'git' ? next() : undefined;
      if (moment === 'before') end();
      const child = spawn(command, args, options);
      if (moment === 'half') child.once('spawn', end);
      else if (moment === 'after') child.once('close', end);
      return child;
    },
  );
}
