import * as path from 'node:path';
import type { Disposable } from './events';
import { FileWatch } from './fileWatch';
import { isMissing } from './inboxFiles';
import { sentenceOf } from './ledger';
import type { MirrorFiles } from './ports';
import { type Task, taskNumber } from './task';
import type { TaskBook } from './taskBook';

const FILE = /^(t[1-9]\d{0,8})\.json$/;

export interface TaskFolderHost {
  /** False once another window runs the team: the files are that window's to keep. */
  isHeld(): boolean;
  /** Resolves when nothing is being written by us. */
  whenWritten(): Promise<void>;
  /** Writes a task's file anew. */
  renew(id: string): void;
  tell(level: 'info' | 'warning', text: string): void;
  /** No file is being looked at any more. */
  onSettled(): void;
}

/**
 * The files `.team/tasks/<id>.json`: a picture of the board. What somebody changes in them changes nothing; it is
 * told, and the file is written anew.
 */
export class TaskFolder implements Disposable {
  readonly #watch: FileWatch;
  readonly #touched = new Set<string>();
  readonly #told = new Set<string>();
  #checking: Promise<void> | undefined;
  #isOver = false;

  constructor(
    private readonly dir: string,
    private readonly files: MirrorFiles,
    private readonly book: TaskBook,
    private readonly host: TaskFolderHost,
  ) {
    this.#watch = new FileWatch(
      dir,
      FILE,
      (id) => this.#touch(id),
      (error) => this.host.tell('info', `${dir} cannot be watched: ${sentenceOf(error)}`),
    );
  }

  /** True when no file is being looked at. */
  get isIdle(): boolean {
    return this.#checking === undefined;
  }

  fileOf(id: string): string {
    return path.join(this.dir, `${id}.json`);
  }

  /** Compares what is there with the board; what differs is written anew. */
  async start(now: number): Promise<void> {
    const present = new Set<string>();
    for (const name of await this.files.list(this.dir)) {
      const id = FILE.exec(name)?.[1];
      const task = id === undefined ? undefined : this.book.get(id);
      if (!task) continue;
      const found = await this.#read(task.id);
      if (found !== undefined && !isJson(found)) {
        const beside = `${name}.damaged-${now}`;
        await this.files.rename(this.fileOf(task.id), path.join(this.dir, beside));
        this.host.tell(
          'warning',
          `${this.fileOf(task.id)} is damaged. It is kept as ${beside} and written anew.`,
        );
      } else if (found === taskText(task)) present.add(task.id);
    }
    for (const { id } of this.book.all()) if (!present.has(id)) this.host.renew(id);
    if (present.size > 0) this.#watch.start();
  }

  /** Brings a task's file in line with the board. */
  async write(id: string): Promise<void> {
    const task = this.book.get(id);
    if (!task) return;
    // The folder may be gone with its watch.
    if (await this.files.ensureSubfolder(this.dir)) this.#watch.dispose();
    await this.files.writeAtomic(this.fileOf(id), taskText(task));
    this.#watch.start();
  }

  async stop(): Promise<void> {
    this.dispose();
    await this.#checking;
  }

  dispose(): void {
    this.#isOver = true;
    this.#watch.dispose();
  }

  #touch(id: string): void {
    if (this.#isOver || !this.host.isHeld()) return;
    this.#touched.add(id);
    this.#checking ??= this.#check();
  }

  async #check(): Promise<void> {
    try {
      while (this.#touched.size > 0 && !this.#isOver) {
        await this.host.whenWritten();
        const [id = ''] = this.#touched;
        this.#touched.delete(id);
        await this.#compare(id);
      }
    } finally {
      // In the very step that found nothing left: what is touched after it begins anew.
      this.#checking = undefined;
      this.host.onSettled();
    }
  }

  async #compare(id: string): Promise<void> {
    const wanted = this.book.get(id);
    try {
      const found = await this.#read(id);
      // It changed while the file was being read: its own write is noticed again.
      if (this.book.get(id) !== wanted || found === (wanted && taskText(wanted))) return;
      this.#tellOnce(id, wanted !== undefined);
      if (wanted) this.host.renew(id);
    } catch (error) {
      this.host.tell('warning', `${this.fileOf(id)} cannot be read: ${sentenceOf(error)}`);
    }
  }

  #tellOnce(id: string, isKnown: boolean): void {
    if (this.#told.has(id)) return;
    this.#told.add(id);
    const text = isKnown
      ? `${this.fileOf(id)} was changed by somebody else. That changes nothing: the board is changed in the Board view or by the lead. The file is written anew.`
      : `${this.fileOf(id)} was put there by somebody else. It is no task of the board: tasks are made in the Board view or by the lead.`;
    this.host.tell('warning', text);
  }

  async #read(id: string): Promise<string | undefined> {
    try {
      return await this.files.read(this.fileOf(id));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }
}

/** A task as other programs read it; times in seconds since the epoch. */
function taskText(task: Task): string {
  const { id, subject, description, status, priority, blockedBy, owner, blockedReason, result, isolated } =
    task;
  const content = {
    id,
    subject,
    description,
    status,
    priority,
    order: task.order === taskNumber(id) ? undefined : task.order,
    blocked_by: blockedBy,
    owner,
    blocked_reason: blockedReason,
    result,
    isolated,
    worktree: task.worktree && { path: task.worktree.path, branch: task.worktree.branch },
    notes: task.notes.map(({ at, by, text }) => ({ timestamp: at / 1000, by, text })),
    created_by: task.createdBy,
    created_at: task.createdAt / 1000,
    started_at: task.startedAt === undefined ? undefined : task.startedAt / 1000,
    completed_at: task.completedAt === undefined ? undefined : task.completedAt / 1000,
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
