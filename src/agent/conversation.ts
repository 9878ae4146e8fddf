import type {
  AssistantTurn,
  ConversationTurn,
  ToolResultBlock,
  ToolUseBlock,
  UserBlock,
  UserTurn,
} from '../model/port';
import type { TeamMessage } from '../protocol';
import { ContextState } from './contextState';
import { type Shortening, withoutImages, withoutOutputs, withSummary } from './shortenTurns';
import { type OpenNudge, type TranscriptRecord, transcriptRecord } from './transcript';

/** Where a conversation is kept. `append` resolves when the line is written, with `sync` when it is on disk. */
export interface TranscriptLog {
  append(record: TranscriptRecord, options: { sync: boolean }): Promise<void>;
  close(): Promise<void>;
}

/**
 * One member's model conversation: in memory as the API wants it (roles alternate, every call answered), on
 * disk as it happened. It only grows at its end, so that each model call repeats the one before it.
 */
export class Conversation {
  /** How full it is. */
  readonly context = new ContextState();
  readonly #turns: ConversationTurn[] = [];
  readonly #shown = new Set<string>();
  /** Calls of the newest assistant turn that have no result yet, in their order. */
  #unanswered: ToolUseBlock[] = [];
  #calledAt = 0;
  #openNudge: OpenNudge | undefined;
  #isPaused = false;

  private constructor(private readonly log: TranscriptLog) {}

  /**
   * @param lines what the transcript holds; lines that do not fit are reported by number and left out
   */
  static restore(
    log: TranscriptLog,
    lines: readonly unknown[],
    report: (problem: string) => void,
  ): Conversation {
    const conversation = new Conversation(log);
    lines.forEach((line, index) => {
      const parsed = transcriptRecord.safeParse(line);
      if (!parsed.success) report(`Line ${index + 1} of a transcript is not understood and was left out.`);
      else conversation.#take(parsed.data as TranscriptRecord);
    });
    return conversation;
  }

  get turns(): readonly ConversationTurn[] {
    return this.#turns;
  }

  get isEmpty(): boolean {
    return this.#turns.length === 0;
  }

  /** True when the model owes a reply. */
  get awaitsReply(): boolean {
    return this.#isPaused || (this.#turns.at(-1)?.role === 'user' && this.#unanswered.length === 0);
  }

  /** True when the model has paused in the middle of its turn: it wants to be called with that turn at the end. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** What the runtime asked for once more, while the model has not replied to it. */
  get openNudge(): OpenNudge | undefined {
    return this.#openNudge;
  }

  /** Calls that the API wants answered before anything else, in their order. */
  get unanswered(): readonly ToolUseBlock[] {
    return this.#unanswered;
  }

  /** When the model made the newest calls; milliseconds since the epoch. */
  get calledAt(): number {
    return this.#calledAt;
  }

  /** Counts turns; two batches of calls never have the same number. */
  get turnNumber(): number {
    return this.#calledAt;
  }

  /** True for a message that is in the transcript, though a crash may have left it in the mailbox. */
  hasShown(messageId: string): boolean {
    return this.#shown.has(messageId);
  }

  /** Gives every call that is still open the same result; nothing when there is none. */
  async answerOpen(content: string, now: number): Promise<void> {
    const results = this.#unanswered.map(({ id }): ToolResultBlock => {
      return { type: 'tool_result', tool_use_id: id, content, is_error: true };
    });
    if (results.length > 0) await this.addResults(results, [], now);
  }

  /** Shows messages to the member; durable when it resolves. */
  async addMail(
    messages: readonly TeamMessage[],
    render: (message: TeamMessage) => string,
    now: number,
  ): Promise<void> {
    const content = messages.map((message): UserBlock => ({ type: 'text', text: render(message) }));
    await this.#add({ at: now, turn: { role: 'user', content }, mail: [...messages] }, true);
  }

  /** Asks once more for something; durable when it resolves, so that a restart asks in the same way. */
  addNudge(text: string, nudge: OpenNudge, now: number): Promise<void> {
    const turn: UserTurn = { role: 'user', content: [{ type: 'text', text }] };
    return this.#add({ at: now, turn, nudge }, true);
  }

  /** A word of the runtime to the model. */
  addNote(text: string, now: number): Promise<void> {
    return this.#add({ at: now, turn: { role: 'user', content: [{ type: 'text', text }] } }, false);
  }

  /** Results of calls, some or all; one for a call that has its result already is dropped. */
  async addResults(
    results: readonly ToolResultBlock[],
    shown: readonly TeamMessage[],
    now: number,
  ): Promise<void> {
    const content = results.filter(({ tool_use_id }) =>
      this.#unanswered.some(({ id }) => id === tool_use_id),
    );
    if (content.length === 0) return;
    const record: TranscriptRecord = { at: now, turn: { role: 'user', content } };
    if (shown.length > 0) record.mail = [...shown];
    await this.#add(record, shown.length > 0);
  }

  /**
   * A whole turn of the model; an empty one is not kept, since the API takes none.
   * @param options `sync` where it has to be on the disk before its calls begin; `paused` where it goes on
   */
  addAssistant(
    turn: AssistantTurn,
    demo: boolean,
    now: number,
    { sync, paused = false }: { sync: boolean; paused?: boolean },
  ): Promise<void> {
    if (turn.content.length === 0) return Promise.resolve();
    const record: TranscriptRecord = { at: now, turn };
    if (demo) record.demo = demo;
    if (paused && !turn.content.some((block) => block.type === 'tool_use')) record.paused = paused;
    if (this.#openNudge) record.nudged = this.#openNudge.key;
    return this.#add(record, sync || record.nudged !== undefined);
  }

  /**
   * Takes something out of what the model is shown; the transcript keeps it.
   * @param content stands in its place
   */
  async shorten(shortens: Shortening, content: UserBlock[], now: number): Promise<void> {
    await this.#add({ at: now, turn: { role: 'user', content }, shortens }, true);
    this.context.shortened();
  }

  close(): Promise<void> {
    return this.log.close();
  }

  async #add(record: TranscriptRecord, sync: boolean): Promise<void> {
    await this.log.append(record, { sync });
    this.#take(record);
  }

  #take(record: TranscriptRecord): void {
    for (const message of record.mail ?? []) this.#shown.add(message.id);
    const { turn } = record;
    if (record.shortens !== undefined && turn.role === 'user') {
      this.#shorten(record.shortens, turn.content);
      return;
    }
    const wasPaused = this.#isPaused;
    this.#isPaused = record.paused === true;
    // A result whose call stood in a damaged line belongs to nothing.
    const isKnown = (block: UserBlock): boolean =>
      block.type !== 'tool_result' || this.#unanswered.some(({ id }) => id === block.tool_use_id);
    const content = turn.role === 'user' ? turn.content.filter(isKnown) : [];
    if (turn.role === 'assistant') {
      if (!wasPaused) this.#bridge();
      this.#openNudge = undefined;
      this.#unanswered = turn.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
      this.#calledAt = record.at;
    } else {
      this.#openNudge = record.nudge ?? this.#openNudge;
      const answered = new Set(
        turn.content.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : [])),
      );
      this.#unanswered = this.#unanswered.filter(({ id }) => !answered.has(id));
    }
    if (turn.role === 'assistant') this.#addModel(turn, wasPaused);
    else this.#addUser(content);
  }

  #shorten({ what, turns: count }: Shortening, content: UserBlock[]): void {
    const turns = [...this.#turns];
    const left =
      what === 'outputs'
        ? withoutOutputs(turns, count)
        : what === 'images'
          ? withoutImages(turns, count)
          : withSummary(turns, count, content);
    this.#turns.splice(0, turns.length, ...left);
  }

  /** What follows a pause belongs to the same turn. */
  #addModel(turn: AssistantTurn, goesOn: boolean): void {
    const last = this.#turns.at(-1);
    if (!goesOn || last?.role !== 'assistant') this.#turns.push(turn);
    else this.#turns.splice(-1, 1, { role: 'assistant', content: [...last.content, ...turn.content] });
  }

  /** Two user turns in a row (results, then mail) are one to the API. */
  #addUser(content: readonly UserBlock[]): void {
    const last = this.#turns.at(-1);
    if (content.length === 0) return;
    if (last?.role === 'user') last.content.push(...content);
    else this.#turns.push({ role: 'user', content: [...content] });
  }

  /** Where lines of the transcript are damaged: what the API wants before a turn of the model. */
  #bridge(): void {
    const text = 'This part of the conversation is damaged and was left out.';
    const lost = this.#unanswered.map(
      ({ id }): UserBlock => ({ type: 'tool_result', tool_use_id: id, content: text, is_error: true }),
    );
    if (lost.length > 0) this.#addUser(lost);
    else if (this.#turns.at(-1)?.role !== 'user') this.#addUser([{ type: 'text', text }]);
  }
}
