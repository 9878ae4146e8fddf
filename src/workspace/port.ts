/**
 * The port through which tools reach files and processes. `workspace/node.ts` implements it with
 * `node:fs` and `node:child_process`; an adapter over VS Code's editors can take its place.
 */

/** A refusal or failure in words a model and a human can act on: what failed, with which input, what to do. */
export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError';
}

export interface ReadOptions {
  /** First line to return, from 1. */
  offset?: number;
  /** How many lines to return at most. */
  limit?: number;
}

/** A picture that models can be shown. */
export interface ImageFile {
  mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  bytes: Buffer;
  /** Pixels. */
  width: number;
  height: number;
}

export interface CommandOutcome {
  /** stdout and stderr as they came, control sequences stripped, bounded in the middle with a note. */
  output: string;
  exitCode: number | null;
  signal: string | null;
  /** True when the time-out ended it. */
  timedOut: boolean;
  /** True when the caller's signal ended it. */
  aborted: boolean;
}

export interface CommandOptions {
  /** Milliseconds until the process group is ended (TERM, then KILL). */
  timeoutMs: number;
  /** Ends the process group; aborted with the reason `stop` it is killed without being asked. */
  signal: AbortSignal;
  /** Names the tool call that runs it, on this machine; {@link Workspace.endLeftovers} finds by it what is left. */
  call?: string;
}

/** A file, whatever name it goes by. */
export interface FileIdentity {
  /** Equal for all names of one file; another one in another working tree. */
  readonly key: string;
  /** For people: from the folder that the member works in, with `/`. */
  readonly path: string;
  /** The member has read it, or there is no such file. */
  readonly isKnown: boolean;
  /** It says what programs run or how agents behave. */
  readonly steers: boolean;
}

/** One member's view of the workspace: it remembers what that member has read (see `writeFile`). */
export interface MemberWorkspace {
  /** @throws {WorkspaceError} outside the workspace (by the real target of links), missing, binary, too large */
  readFile(path: string, options?: ReadOptions): Promise<string>;
  /**
   * Reads a picture (PNG, JPEG, GIF, WebP).
   * @returns undefined when the file is none, by its content
   * @throws {WorkspaceError} as {@link readFile}, and when it is larger than a model can be shown
   */
  readImage(path: string): Promise<ImageFile | undefined>;
  /**
   * Writes a whole file, atomically. Refused when the path leads out of the workspace by its real target,
   * or when an existing file was not read by this member or has changed since.
   * @returns a short sentence for the model
   */
  writeFile(path: string, content: string): Promise<string>;
  /**
   * Replaces the one occurrence of `oldText` with `newText`, literally; every other byte stays.
   * Line endings: `oldText` given with `\n` matches the file's own `\r\n`.
   * @throws {WorkspaceError} empty `oldText`, no match, or several matches (with the count)
   */
  editFile(path: string, oldText: string, newText: string): Promise<string>;
  /** A unified diff of what such a write or edit would do, for the human's review; throws as they would. */
  previewWrite(path: string, content: string): Promise<string>;
  previewEdit(path: string, oldText: string, newText: string): Promise<string>;
  /** Which file a write or edit of that path would change; throws as they would for a path that cannot be written. */
  identify(path: string): Promise<FileIdentity>;
  /** The member has to read that file again before it writes it whole. */
  forget(identity: FileIdentity): void;
  /** Runs a shell command in the workspace root: own process group, closed stdin, no terminal, no keys in its environment. */
  runCommand(command: string, options: CommandOptions): Promise<CommandOutcome>;
}

/** A working tree beside the main one, which stands for the workspace folder while somebody works in it. */
export interface IsolatedFolder {
  /** Absolute real path of its checkout. */
  checkout: string;
  /** Absolute real path of what stands for the workspace folder in it: the checkout, or a folder of it. */
  folder: string;
  /** Rejects with why it cannot be worked in; asked before everything that is done there. */
  check(): Promise<void>;
}

export interface Workspace {
  /** Absolute real path of the workspace folder. */
  readonly root: string;
  /**
   * The view of one member, for one incarnation: each call gives a new one that has read nothing yet, so keep
   * it as long as the member's conversation.
   * @param isolated another folder than the workspace's; the main checkout is then out of reach
   */
  forMember(name: string, isolated?: IsolatedFolder): MemberWorkspace;
  /**
   * Ends what still runs of calls whose window was killed, where the system lets it be found (on Linux).
   * @param calls as {@link CommandOptions.call} had them
   * @returns the names of what was ended
   */
  endLeftovers?(calls: readonly string[]): Promise<string[]>;
}
