import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { BoundedText } from './boundedText';
import { errorCode } from './failures';
import { endMarked } from './markedProcesses';
import { type CommandOptions, type CommandOutcome, WorkspaceError } from './port';
import { ProcessGroup } from './processGroup';
import { TerminalText } from './terminalText';

/** How much of the beginning and of the end of the output is kept, in characters each. */
const OUTPUT_LIMIT = 30_000;
/** How long what a finished command left running may take to end by itself (a `tee` in a substitution does). */
const SETTLE_MS = 500;
/** A person who interrupts waits; a force stop (an abort with the reason `stop`) kills at once. */
const ABORT_GRACE_MS = 1000;
/** How long to read on when a process that left the group still holds the pipe. */
const DRAIN_MS = 250;
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export interface ShellOptions extends CommandOptions {
  cwd: string;
  environment: Record<string, string>;
  /** What the environment of all that it starts carries (see `markedProcesses.ts`). */
  mark: string;
  /** Milliseconds between asking the process group to end and killing it. */
  killGraceMs: number;
}

interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

/**
 * Runs a shell command without a terminal and with nothing to read, in a process group of its own. When this
 * resolves, the group is gone: what the command left in the background is ended too.
 * @throws {WorkspaceError} when the shell cannot be started
 */
export async function runShell(command: string, options: ShellOptions): Promise<CommandOutcome> {
  if (command.trim() === '') throw new WorkspaceError('The command is empty.');
  if (command.includes('\0')) throw new WorkspaceError('The command holds a NUL character.');
  if (options.signal.aborted)
    return { output: '', exitCode: null, signal: null, timedOut: false, aborted: true };

  const child = start(command, options);
  const output = new BoundedText(OUTPUT_LIMIT, OUTPUT_LIMIT);
  const streams = [child.stdout, child.stderr].map((stream) => collect(stream, output));
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', (error) => reject(startFailure(command, error)));
  });
  if (child.pid === undefined) {
    // The start failed, and the error event that says why comes before any exit.
    await exited;
    throw startFailure(command, undefined);
  }

  const group = new ProcessGroup(child.pid);
  const stopped = stopWhenDue(group, options);
  const exit = await Promise.race([exited, stopped.gone.then(() => settledExit(exited))]);
  stopped.dispose();
  // What left the group may take longer than the shell.
  if (stopped.reason() !== undefined) await stopped.gone;
  if (!(await group.goneWithin(SETTLE_MS))) {
    await group.end(options.killGraceMs);
    if (stopped.reason() === undefined)
      output.append('\n[processes that the command left running were ended]');
  }
  await Promise.race([closed, patience()]);
  for (const stream of streams) stream.end();
  return {
    output: output.toString(),
    exitCode: exit.code,
    signal: exit.signal,
    timedOut: stopped.reason() === 'time-out',
    aborted: stopped.reason() === 'abort',
  };
}

function start(command: string, { cwd, environment }: ShellOptions): Child {
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
  const common = { cwd, env: environment, stdio, windowsHide: true };
  try {
    if (process.platform === 'win32') {
      const shell = environment.ComSpec ?? 'cmd.exe';
      return spawn(shell, ['/d', '/s', '/c', `"${command}"`], { ...common, windowsVerbatimArguments: true });
    }
    // One pipe for both outputs keeps their order.
    const args = ['-c', 'exec "$0" -c "$1" 2>&1', findShell(environment.PATH ?? ''), command];
    return spawn('/bin/sh', args, { ...common, detached: true });
  } catch (error) {
    throw startFailure(command, error);
  }
}

function findShell(path: string): string {
  const folders = ['/bin', '/usr/bin', ...path.split(delimiter).filter((folder) => folder.startsWith('/'))];
  return folders.map((folder) => join(folder, 'bash')).find(isExecutable) ?? '/bin/sh';
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function startFailure(command: string, error: unknown): WorkspaceError {
  const why =
    errorCode(error) === 'E2BIG'
      ? `it is too long (${command.length} characters). Write a script file and run that.`
      : error instanceof Error
        ? error.message
        : 'the shell did not start.';
  return new WorkspaceError(`Cannot run the command: ${why}`, { cause: error });
}

/** Reads a stream into the output. `end` takes what was read so far and lets go of the stream. */
function collect(stream: Readable, output: BoundedText): { end(): void } {
  const text = new TerminalText((piece) => output.append(piece));
  stream.on('data', (chunk: Buffer) => text.write(chunk));
  // A pipe that breaks ends the output; the exit tells the rest.
  stream.on('error', () => stream.destroy());
  return {
    end: () => {
      stream.destroy();
      text.end();
    },
  };
}

/**
 * Ends the group, and what left it, at the time-out or at the caller's signal. `gone` resolves when that is done.
 */
function stopWhenDue(group: ProcessGroup, { timeoutMs, signal, killGraceMs, mark }: ShellOptions) {
  let reason: 'time-out' | 'abort' | undefined;
  let finish: () => void;
  const gone = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const stop = (why: 'time-out' | 'abort'): void => {
    reason ??= why;
    const grace = graceFor(why);
    void Promise.all([group.end(grace), endMarked(mark, grace, group.pid)]).then(finish);
  };
  const graceFor = (why: 'time-out' | 'abort'): number => {
    if (why === 'time-out') return killGraceMs;
    return signal.reason === 'stop' ? 0 : Math.min(killGraceMs, ABORT_GRACE_MS);
  };
  const onAbort = (): void => stop('abort');
  const timer = setTimeout(() => stop('time-out'), Math.min(timeoutMs, MAX_TIMEOUT_MS));
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    gone,
    reason: () => reason,
    dispose: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    },
  };
}

/** The exit of a process that was killed, or an unknown one where it cannot even be killed. */
function settledExit(exited: Promise<Exit>): Promise<Exit> {
  return Promise.race([exited, patience().then((): Exit => ({ code: null, signal: null }))]);
}

/** A while in which everything that is ready can be read, however busy this process is. */
async function patience(): Promise<void> {
  await delay(DRAIN_MS);
  await nextTurn();
}
