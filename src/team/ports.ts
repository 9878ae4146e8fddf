import type { GrantedRole } from '../protocol';

/** What the team needs from outside itself; the composition root brings the real ones, tests may bring others. */

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** A fresh UUID v4. */
  uuid(): string;
}

/** A teammate's running side. The agent loop is one implementation; an agent in another process may be another. */
export interface MemberRunner {
  /** Something arrived for the member: mail, or news of a request that concerns it. */
  wake(cause: 'mail' | 'request'): void;
}

/** The reusable roles of the workspace. */
export interface RoleSource {
  /** What a teammate of that role gets, or undefined where no file has that name. */
  use(name: string): Promise<UsedRole | undefined>;
}

export interface UsedRole {
  /** As its file writes it. */
  readonly name: string;
  readonly granted: GrantedRole;
  /** Where the role names a model of its own. */
  readonly model?: string;
}

/** By which it is seen whether a file is still as it was written. */
export interface FileStamp {
  /** Bytes. */
  size: number;
  mtimeMs: number;
  ino: number;
}

/** The folder `.team/`, as far as the team touches it. A failure is an error that names the file. */
export interface MirrorFiles {
  /**
   * Makes `.team/` with its `.gitignore` and its inboxes' folder where they are missing.
   * @returns whether they were
   */
  ensureFolder(): Promise<boolean>;
  /**
   * Makes a folder within `.team/` where it is missing.
   * @returns whether it was
   */
  ensureSubfolder(dir: string): Promise<boolean>;
  /** Replaces a file; a reader sees the old or the new content, never a part. */
  writeAtomic(path: string, text: string): Promise<void>;
  /** Adds at the end of a file that other programs write to as well; made when missing. */
  append(path: string, text: string): Promise<void>;
  /**
   * Adds lines to a file of ours alone, all of them or, after an error, none; what a crash cut off at its end is
   * removed. Made when missing.
   */
  appendLines(path: string, lines: readonly string[]): Promise<void>;
  /** @throws an error with the code ENOENT when there is no such file */
  read(path: string): Promise<string>;
  /** @throws an error with the code ENOENT when there is no such file */
  stamp(path: string): Promise<FileStamp>;
  /** The names in a folder; none when there is no such folder. */
  list(dir: string): Promise<string[]>;
  /** @throws an error with the code ENOENT when there is no such file */
  rename(from: string, to: string): Promise<void>;
  /** Does nothing when there is no such file. */
  remove(path: string): Promise<void>;
}
