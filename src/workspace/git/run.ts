import { spawn } from 'node:child_process';
import { errorCode } from '../failures';
import { MARK_NAME, newMark } from '../markedProcesses';
import { WorkspaceError } from '../port';
import { namesOf, shownName } from './names';

/**
 * Settings that a command of ours does not take from the user, whatever stands in their configuration: nothing
 * of theirs is run unasked (hooks, monitors, signing), and what is read has one form.
 */
const FIXED: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.quotePath=false',
  'core.safecrlf=false',
  'commit.gpgSign=false',
  'diff.suppressBlankEmpty=false',
  'gc.auto=0',
  'i18n.commitEncoding=UTF-8',
  'maintenance.auto=false',
];

/** Of an index of ours: a part of it in a file of its own would stay when it goes. */
const FIXED_OF_INDEX: readonly string[] = ['core.splitIndex=false'];

/** A checkout of a large repository takes minutes; what takes longer than this hangs. */
const TIMEOUT_MS = 10 * 60_000;
/** Of what git prints, where it is kept whole. */
const MAX_OUTPUT_MB = 256;

export interface GitOptions {
  /** Written to its standard input. */
  input?: string | Uint8Array;
  /** Another index than the checkout's own: absolute path. */
  index?: string;
  /** Exit codes that are answers, besides 0. */
  accept?: readonly number[];
  /** Takes what it prints as it comes, however much it is; the result has none of it. */
  onOutput?(chunk: Buffer): void;
  /** Names it, on this machine, so that it can be ended where it outlives the window that began it. */
  call?: string;
}

export interface GitResult {
  code: number;
  stdout: Buffer;
}

/** What git said when it failed. */
export class GitError extends WorkspaceError {
  constructor(
    message: string,
    /** Undefined where it could not be started, or was ended. */
    readonly code: number | undefined,
    readonly stderr: string,
  ) {
    super(message);
  }
}

/**
 * Runs git in a folder, without a terminal, without hooks, and without what the environment says of another
 * repository.
 * @throws {GitError} when it is not installed, fails, or takes too long
 */
export function git(folder: string, args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
  const fixed = options.index === undefined ? FIXED : [...FIXED, ...FIXED_OF_INDEX];
  const settings = fixed.flatMap((setting) => ['-c', setting]);
  const child = spawn('git', [...settings, ...args], {
    cwd: folder,
    env: environment(options),
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
  });
  let ended: string | undefined;
  const end = (why: string): void => {
    ended ??= why;
    child.kill();
  };
  // Not spawn's own: that one goes on for a program that did not start.
  const patience = setTimeout(() => end(`took longer than ${TIMEOUT_MS / 60_000} minutes`), TIMEOUT_MS);
  return new Promise((resolve, reject) => {
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let size = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      if (options.onOutput !== undefined) return options.onOutput(chunk);
      size += chunk.length;
      if (size <= MAX_OUTPUT_MB * 1024 * 1024) out.push(chunk);
      else end(`printed more than ${MAX_OUTPUT_MB} MB`);
    });
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.once('error', (error) => {
      clearTimeout(patience);
      reject(startFailure(folder, error));
    });
    child.once('close', (code, signal) => {
      clearTimeout(patience);
      const stderr = Buffer.concat(err).toString('utf8').trim();
      // What was cut is no answer, also where it came to its own end just then.
      if (ended === undefined && code !== null && (code === 0 || options.accept?.includes(code))) {
        resolve({ code, stdout: Buffer.concat(out) });
      } else {
        reject(
          new GitError(
            sentence(args, stderr, ended ?? (signal && `was ended by ${signal}`)),
            code ?? undefined,
            stderr,
          ),
        );
      }
    });
    // It may have ended without reading; its exit says what that means.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
  });
}

/** Like {@link git}, for an answer of one line. */
export async function gitLine(
  folder: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<string> {
  return (await gitText(folder, args, options)).replace(/\r?\n$/, '');
}

/** Like {@link git}, for an answer in words. */
export async function gitText(
  folder: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<string> {
  return (await git(folder, args, options)).stdout.toString('utf8');
}

/** Like {@link git}, for a list for people, whose entries end with NUL. */
export async function gitList(
  folder: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<string[]> {
  return (await gitNames(folder, args, options)).map(shownName);
}

/** Like {@link gitList}, with names that can be given back to git, see `bytesOf`. */
export async function gitNames(
  folder: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<string[]> {
  return namesOf((await git(folder, args, options)).stdout);
}

/** Whether the command succeeds, where failing is an answer as well. */
export async function gitHolds(folder: string, args: readonly string[]): Promise<boolean> {
  return (await git(folder, args, { accept: [1, 128] })).code === 0;
}

function environment({ index, call }: GitOptions): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.toUpperCase().startsWith('GIT_'));
  return {
    ...Object.fromEntries(own),
    LC_ALL: 'C',
    GIT_EDITOR: 'true',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    ...(index === undefined ? {} : { GIT_INDEX_FILE: index }),
    ...(call === undefined ? {} : { [MARK_NAME]: newMark(call) }),
  };
}

function startFailure(folder: string, error: Error): GitError {
  if (errorCode(error) !== 'ENOENT')
    return new GitError(`git did not start: ${error.message}`, undefined, '');
  return new GitError(
    `git was not found, or the folder ${folder} is not there. Install git and make sure that it is in the PATH of VS Code.`,
    undefined,
    '',
  );
}

/** @param ended how, where it did not come to its own end */
function sentence(args: readonly string[], stderr: string, ended: string | null): string {
  const name = args.find((arg, at) => !arg.startsWith('-') && args[at - 1] !== '-c');
  const command = `git ${name ?? ''}`.trim();
  if (ended !== null) return `${command} ${ended}.`;
  if (stderr.includes('dubious ownership')) {
    return `git does not trust this repository, because it belongs to somebody else. If you do, run the command that git names: ${stderr}`;
  }
  if (stderr.includes('.lock') && stderr.includes('File exists')) {
    return `Another git command is at work in this repository, or one was cut off and left its lock: ${stderr}`;
  }
  if (stderr.includes('Please tell me who you are') || stderr.includes('empty ident')) {
    return 'git does not know who you are. Set user.name and user.email (git config), then try again.';
  }
  return `${command} failed: ${stderr || 'it gave no reason'}`;
}
