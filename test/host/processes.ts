import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';

const isWindows = process.platform === 'win32';

/** Process groups that must not outlive this process. */
const owned = new Set<ChildProcess>();
let watching = false;

function watchOwnExit(): void {
  if (watching) return;
  watching = true;
  process.on('exit', () => {
    for (const child of owned) killGroup(child, 'SIGKILL');
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => process.exit(signal === 'SIGINT' ? 130 : 143));
  }
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (isWindows) child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch (error) {
    // ESRCH: it has ended meanwhile, which is what was wanted.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** Starts a process in a group of its own that ends with this process at the latest. */
export function spawnOwned(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  watchOwnExit();
  const child = spawn(command, args, { ...options, detached: !isWindows });
  owned.add(child);
  child.once('exit', () => {
    // What the process itself started may still be there.
    killGroup(child, 'SIGKILL');
    owned.delete(child);
  });
  child.once('error', () => owned.delete(child));
  return child;
}

/** Ends a process started with {@link spawnOwned}: asks, and after `graceMs` milliseconds insists. */
export async function stopOwned(child: ChildProcess, graceMs = 5_000): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  killGroup(child, 'SIGTERM');
  const insist = setTimeout(() => killGroup(child, 'SIGKILL'), graceMs);
  await ended;
  clearTimeout(insist);
}

export interface RunOptions {
  cwd: string;
  env?: NodeJS.ProcessEnv;
  /** Shows the output as it comes instead of keeping it for the error. */
  show?: boolean;
  /** Returns what a program printed that exits with another code than 0, too. */
  keepFailed?: boolean;
}

/**
 * Runs a program to its end.
 * @returns what it printed (empty with `show`)
 * @throws with its last lines when it cannot be started or exits with anything but 0 (see `keepFailed`)
 */
export function run(command: string, args: readonly string[], options: RunOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    // Scripts for Windows' own shell run in nothing else, and that shell wants names with spaces quoted.
    const shell = isWindows && (command === 'npm' || command.endsWith('.cmd'));
    const [program, ...rest] = shell ? [command, ...args].map((each) => `"${each}"`) : [command, ...args];
    const child = spawnOwned(program ?? command, rest, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ['ignore', options.show ? 'inherit' : 'pipe', options.show ? 'inherit' : 'pipe'],
      shell,
    });
    let output = '';
    const keep = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    child.once('error', (cause) =>
      reject(new Error(`${command} could not be started: ${cause.message}`, { cause })),
    );
    child.once('close', (code, signal) => {
      if (code === 0 || (options.keepFailed && code !== null)) return resolve(output);
      const tail = output.trimEnd().split('\n').slice(-25).join('\n');
      reject(new Error(`${command} ${args.join(' ')} ended with ${signal ?? code}\n${tail}`));
    });
  });
}
