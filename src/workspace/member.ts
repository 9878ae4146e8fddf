import { dirname } from 'node:path';
import { applyEdit } from './edit';
import { commandEnvironment } from './environment';
import { exists, fileKey } from './fileKey';
import { contentHash, type FileState, readRegularFile, replaceFile } from './files';
import { readImage } from './image';
import type { PathLocks } from './locks';
import { type MainCheckout, resolveInWorktree } from './mainCheckout';
import { MARK_NAME, newMark } from './markedProcesses';
import { type ResolvedPath, resolveInside } from './paths';
import {
  type CommandOptions,
  type CommandOutcome,
  type FileIdentity,
  type ImageFile,
  type MemberWorkspace,
  type ReadOptions,
  WorkspaceError,
} from './port';
import { runShell } from './shell';
import { steersTools } from './steering';
import { BOM, decodeExactly, readText, refuseBinary, refuseBrokenText } from './text';

/** What all members of a workspace share. */
export interface WorkspaceContext {
  root: string;
  locks: PathLocks;
  /** Values that no child process may find in its environment. */
  secretValues: () => readonly string[];
  /** Milliseconds between asking a process group to end and killing it. */
  killGraceMs: number;
  /** Where `root` stands in a worktree: the workspace folder that it stands for, which is out of reach. */
  main?: MainCheckout;
}

/** A change that was checked but not made. */
interface Change {
  path: ResolvedPath;
  before: FileState | undefined;
  after: Buffer;
}

/** One member's view of the workspace, over `node:fs`. It begins without having read anything. */
export class NodeMemberWorkspace implements MemberWorkspace {
  /** Real path of each file this member has read or written whole, to the hash it then had. */
  readonly #seen = new Map<string, string>();
  /** Real path by the key of a file. */
  readonly #realOf = new Map<string, string>();

  constructor(private readonly context: WorkspaceContext) {}

  async readFile(given: string, options: ReadOptions = {}): Promise<string> {
    const path = await this.#resolve(given, 'read');
    const state = await readRegularFile(path);
    if (state === undefined) throw missing('read', given);
    const text = readText(given, state.bytes, options);
    this.#seen.set(path.real, state.hash);
    return text;
  }

  async readImage(given: string): Promise<ImageFile | undefined> {
    const path = await resolveInside(this.context.root, given, 'read');
    const state = await readRegularFile(path);
    if (state === undefined) throw missing('read', given);
    return readImage(given, state.bytes);
  }

  async writeFile(given: string, content: string): Promise<string> {
    const bytes = await this.#apply(given, (path) => this.#planWrite(path, content));
    return `Wrote ${bytes} bytes to ${given}`;
  }

  async editFile(given: string, oldText: string, newText: string): Promise<string> {
    await this.#apply(given, (path) => this.#planEdit(path, oldText, newText));
    return `Edited ${given}`;
  }

  async previewWrite(given: string, content: string): Promise<string> {
    return preview(await this.#planWrite(await this.#writable(given), content));
  }

  async previewEdit(given: string, oldText: string, newText: string): Promise<string> {
    return preview(await this.#planEdit(await this.#writable(given), oldText, newText));
  }

  async identify(given: string): Promise<FileIdentity> {
    const path = await this.#writable(given);
    const key = await fileKey(path.real);
    this.#realOf.set(key, path.real);
    const isKnown = this.#seen.has(path.real) || !(await exists(path.real));
    const steers = await steersTools(this.context.root, given, path.real);
    return { key, path: path.relative, isKnown, steers };
  }

  forget({ key }: FileIdentity): void {
    const real = this.#realOf.get(key);
    if (real !== undefined) this.#seen.delete(real);
  }

  async runCommand(command: string, options: CommandOptions): Promise<CommandOutcome> {
    const { root, secretValues, killGraceMs, main } = this.context;
    const mark = newMark(options.call);
    const environment: Record<string, string> = {
      ...commandEnvironment(process.env, secretValues()),
      [MARK_NAME]: mark,
    };
    if (main !== undefined) {
      const { refuseMainPaths } = await import('./commandPaths');
      refuseMainPaths(command, root, main);
      // A worktree whose .git breaks while the command runs must not become the checkout around it.
      environment.GIT_CEILING_DIRECTORIES = dirname(main.checkout);
    }
    return runShell(command, { ...options, cwd: root, environment, killGraceMs, mark });
  }

  #writable(given: string): Promise<ResolvedPath> {
    return this.#resolve(given, 'write');
  }

  #resolve(given: string, action: 'read' | 'write'): Promise<ResolvedPath> {
    const { root, main } = this.context;
    return main === undefined
      ? resolveInside(root, given, action)
      : resolveInWorktree(root, given, action, main);
  }

  /** Checks and makes a change while no other member changes the file. @returns its new size in bytes */
  async #apply(given: string, plan: (path: ResolvedPath) => Promise<Change>): Promise<number> {
    const { real } = await this.#writable(given);
    return this.context.locks.run(real, async () => {
      // Resolved again: waiting for the lock took time.
      const { path, before, after } = await plan(await this.#writable(given));
      await replaceFile(path, after, before);
      // An edit does not show the whole file, so it counts as reading only where that was done before.
      const known =
        before === undefined || before.bytes.length === 0 || this.#seen.get(path.real) === before.hash;
      if (known) this.#seen.set(path.real, contentHash(after));
      return after.length;
    });
  }

  async #planWrite(path: ResolvedPath, content: string): Promise<Change> {
    refuseBrokenText('content', content);
    const before = await readRegularFile(path);
    if (before === undefined || before.bytes.length === 0)
      return { path, before, after: Buffer.from(content) };
    refuseBinary(path.given, before.bytes);
    if (!this.#seen.has(path.real)) {
      throw new WorkspaceError(
        `Cannot write '${path.given}': it exists and you have not read it. Read it first, or change a part of it with edit_file.`,
      );
    }
    this.#refuseChanged(path, before);
    const mark = Buffer.from(BOM);
    const keepsMark = before.bytes.subarray(0, mark.length).equals(mark) && !content.startsWith(BOM);
    return { path, before, after: Buffer.from(keepsMark ? BOM + content : content) };
  }

  async #planEdit(path: ResolvedPath, oldText: string, newText: string): Promise<Change> {
    const before = await readRegularFile(path);
    if (before === undefined) throw missing('edit', path.given);
    this.#refuseChanged(path, before);
    const text = decodeExactly(path.given, before.bytes);
    return { path, before, after: Buffer.from(applyEdit(path.given, text, oldText, newText)) };
  }

  #refuseChanged(path: ResolvedPath, now: FileState): void {
    const seen = this.#seen.get(path.real);
    if (seen === undefined || seen === now.hash) return;
    throw new WorkspaceError(`Cannot change '${path.given}': it changed since you read it. Read it again.`);
  }
}

async function preview({ path, before, after }: Change): Promise<string> {
  const { unifiedDiff } = await import('./diff');
  return unifiedDiff(path.relative, before?.bytes.toString('utf8'), after.toString('utf8'));
}

function missing(action: string, given: string): WorkspaceError {
  return new WorkspaceError(`Cannot ${action} '${given}': it does not exist.`);
}
