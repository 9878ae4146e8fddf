import * as path from 'node:path';
import { LEAD } from '../protocol';
import type { TeamEvent } from './events';
import { type InboxFiles, isMissing } from './inboxFiles';
import { sentenceOf } from './ledger';
import { configText } from './ownConfig';
import type { MirrorFiles } from './ports';
import type { TeamState } from './state';
import type { TaskFolder } from './taskFolder';

export const LOG_FILE = 'log.jsonl';
/** What could not be written is tried again after so many milliseconds, and then after twice as many each time. */
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 60_000;
/**
 * From a change to its writing, and between two rounds of writing, in milliseconds: the picture may be that old, and
 * the journal has the disk meanwhile.
 */
const FIRST_GATHER_MS = 5;
const GATHER_MS = 10;

/**
 * Keeps `.team/` up to date: a picture of the team for people and other programs. Nothing is read back from
 * it but foreign inbox lines (see {@link InboxFiles}). Changes are gathered and written one after another;
 * a file that cannot be written is named once and tried again at the next change.
 */
export class Mirror {
  readonly #dirty = new Set<string>();
  readonly #broken = new Set<string>();
  #log: string[] = [];
  #running: Promise<void> | undefined;
  #folderReady = false;
  #retry: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  #stopped = false;
  /** Monotonic, in milliseconds. */
  #lastWrite = Number.NEGATIVE_INFINITY;
  #folderSeen = false;

  constructor(
    readonly dir: string,
    private readonly state: TeamState,
    private readonly files: MirrorFiles,
    private readonly inboxes: InboxFiles,
    private readonly tasks: TaskFolder,
    private readonly notice: (text: string) => void,
    private readonly onSettled: () => void,
  ) {}

  /** True when everything is written, or cannot be written now. */
  get isIdle(): boolean {
    return this.#running === undefined;
  }

  /** True while the folder is there and could be written when it was last tried. */
  get isFolderReady(): boolean {
    return this.#folderReady;
  }

  /** Takes note of what an event changes. */
  observe(event: TeamEvent): void {
    const line = event.type === 'task' ? this.#taskLine(event) : logLine(event);
    if (line !== undefined) this.#log.push(line);
    if (event.type === 'member') {
      // What a member does just now stands in no file; it changes with every call.
      const isRoster = event.status !== undefined || !this.state.member(event.name);
      if (!isRoster || event.name === LEAD) return;
      this.#dirty.add('config');
      // A mailbox goes with its member, and a new incarnation begins with an empty one.
      this.#dirty.add(event.name);
    } else if (event.type === 'message') this.#dirty.add(event.message.to);
    else if (event.type === 'shown') this.#dirty.add(event.member);
    else if (event.type === 'task') this.#dirty.add(taskKey(event.id));
    else if (line === undefined) return;
    // A notice may come before there is a team; the folder is made with the first action.
    if (this.state.teamId !== '') this.#start();
  }

  /** Writes everything anew, as at the start of a session. */
  refreshAll(): void {
    this.#markAll();
    this.#start();
  }

  /** Writes the roster anew. */
  renewConfig(): void {
    this.#dirty.add('config');
    this.#start();
  }

  /** Writes a member's inbox anew. */
  renewInbox(name: string): void {
    this.#dirty.add(name);
    this.#start();
  }

  /** Writes a task's file anew. */
  renewTask(id: string): void {
    this.#dirty.add(taskKey(id));
    this.#start();
  }

  /** Writes what is under way, and nothing after it. */
  stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    return this.whenIdle();
  }

  async whenIdle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  #markAll(): void {
    this.#dirty.add('config').add(LEAD);
    for (const member of this.state.members()) this.#dirty.add(member.name);
  }

  #start(): void {
    this.#running ??= this.#drain();
  }

  async #drain(): Promise<void> {
    try {
      const failed = new Set<string>();
      let logWorks = true;
      do {
        await this.#gather();
        if (!(await this.#attempt(this.dir, () => this.#ensureFolder()))) {
          this.#tryAgain();
          return;
        }
        const names = [...this.#dirty];
        this.#dirty.clear();
        for (const name of names) if (!(await this.#write(name))) failed.add(name);
        logWorks = await this.#writeLog();
      } while (this.#dirty.size > 0 || (logWorks && this.#log.length > 0));
      // Tried again with the next change or after a while, not in a loop on a full disk.
      for (const name of failed) this.#dirty.add(name);
      if (failed.size > 0 || !logWorks) this.#tryAgain();
      else this.#retryMs = FIRST_RETRY_MS;
    } finally {
      // In the very step that found nothing left: what changes after it begins anew.
      this.#running = undefined;
      this.onSettled();
    }
  }

  #tryAgain(): void {
    clearTimeout(this.#retry);
    if (this.#stopped) return;
    this.#retry = setTimeout(() => this.#start(), this.#retryMs).unref();
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
  }

  /** What belongs together goes out together: a message and its answer, or more where much goes on. */
  async #gather(): Promise<void> {
    const wait = Math.max(FIRST_GATHER_MS, this.#lastWrite + GATHER_MS - performance.now());
    await new Promise((resolve) => setTimeout(resolve, wait));
    this.#lastWrite = performance.now();
  }

  async #ensureFolder(): Promise<void> {
    if (this.#folderReady) return;
    const isNew = await this.files.ensureFolder();
    this.#folderReady = true;
    // Whatever was in a folder that had to be made anew is made anew with it.
    if (isNew || !this.#folderSeen) this.#markAll();
    if (isNew) for (const { id } of this.state.tasks.book.all()) this.#dirty.add(taskKey(id));
    this.#folderSeen = true;
  }

  #write(name: string): Promise<boolean> {
    if (name === 'config') {
      const file = path.join(this.dir, 'config.json');
      return this.#attempt(file, () => this.files.writeAtomic(file, configText(this.state)));
    }
    if (name.startsWith(TASK_KEY)) {
      const id = name.slice(TASK_KEY.length);
      return this.#attempt(this.tasks.fileOf(id), () => this.tasks.write(id));
    }
    if (name !== LEAD && !this.state.member(name)) return Promise.resolve(true);
    const file = path.join(this.dir, 'inbox', `${name}.jsonl`);
    return this.#attempt(file, () => this.inboxes.update(name));
  }

  async #writeLog(): Promise<boolean> {
    if (this.#log.length === 0) return true;
    const lines = this.#log;
    this.#log = [];
    const file = path.join(this.dir, LOG_FILE);
    const written = await this.#attempt(file, () => this.files.appendLines(file, lines));
    // Kept for the next try, within bounds: the journal has it all.
    if (!written) this.#log = [...lines, ...this.#log].slice(-10_000);
    return written;
  }

  #taskLine({ id, change }: Extract<TeamEvent, { type: 'task' }>): string | undefined {
    const task = this.state.tasks.book.get(id);
    if (!task) return undefined;
    const { status, owner, subject } = task;
    const timestamp = Date.now() / 1000;
    return JSON.stringify({ event: 'task', timestamp, id, change, status, owner, subject });
  }

  async #attempt(file: string, write: () => Promise<void>): Promise<boolean> {
    try {
      try {
        await write();
      } catch (error) {
        if (!this.#folderReady || !isMissing(error)) throw error;
        // The folder may only have been deleted: then it is made anew, and nobody needs to hear of it.
        this.#folderReady = false;
        await this.#ensureFolder();
        await write();
      }
      this.#broken.delete(file);
      return true;
    } catch (error) {
      this.#folderReady = false;
      if (!this.#broken.has(file)) {
        this.#broken.add(file);
        this.notice(
          `${file} cannot be written: ${sentenceOf(error)} The team works on from its journal, and the file is written as soon as it can be.`,
        );
      }
      return false;
    }
  }
}

/** No member's name has a colon in it. */
const TASK_KEY = 'task:';

function taskKey(id: string): string {
  return `${TASK_KEY}${id}`;
}

/** The line of `.team/log.jsonl` for what happened, or undefined for what is not worth a line. */
function logLine(event: TeamEvent): string | undefined {
  const timestamp = Date.now() / 1000;
  switch (event.type) {
    case 'message': {
      const { id, type, from, to, content, request_id, approve, plan, feedback, external } = event.message;
      return JSON.stringify({
        event: 'message',
        timestamp: event.message.timestamp,
        type,
        from,
        to,
        content,
        id,
        request_id,
        approve,
        plan,
        feedback,
        external,
      });
    }
    case 'request': {
      const { requestId, kind, from, to, status, decidedBy, via, feedback, cancelReason } = event.request;
      return JSON.stringify({
        event: 'request',
        timestamp,
        change: event.change,
        request_id: requestId,
        kind,
        from,
        to,
        status,
        decided_by: decidedBy,
        via,
        feedback,
        reason: cancelReason,
      });
    }
    case 'refusal':
      return JSON.stringify({
        event: 'refusal',
        timestamp,
        code: event.code,
        by: event.by,
        request_id: event.requestId,
        text: event.text,
      });
    case 'member':
      if (event.status === undefined) return undefined;
      return JSON.stringify({
        event: 'status',
        timestamp,
        name: event.name,
        status: event.status,
        reason: event.reason,
      });
    case 'turn_ended': {
      if (!event.error) return undefined;
      const { kind, text } = event.error;
      return JSON.stringify({ event: 'turn_failed', timestamp, member: event.member, kind, text });
    }
    case 'notice':
      return JSON.stringify({ event: 'notice', timestamp, level: event.level, text: event.text });
    default:
      return undefined;
  }
}
