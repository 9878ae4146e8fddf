import { LEAD, permissionPayload, type TeamMessage } from '../protocol';
import type { TeamEvent, TurnError } from '../team/events';
import { isHumanWords, isNews, limited, mailEntry, toolEntry, toolId } from './conversationEntries';
import type { ConversationTexts } from './conversationTexts';
import { type ConversationAction, type ConversationEntry, OLDER_ID, type ToConversation } from './messages';

type NoticeEntry = Extract<ConversationEntry, { kind: 'notice' }>;
type ToolState = Extract<ConversationEntry, { kind: 'tool' }>['state'];

export interface ModelOptions {
  texts: ConversationTexts;
  post(message: ToConversation): void;
  /** Whether the demo speaks now; for text whose turn has not ended. */
  isDemo(): boolean;
  /** Calls back once, after the time in which streamed text is gathered; returns how to call it off. */
  schedule?(callback: () => void): () => void;
  /** Entries kept; older ones are dropped, with a line that says so. */
  limit?: number;
}

/** The one line on work that waits since a restart. */
const LEFT_WORK_ID = 'left_work';

/** Milliseconds of streamed text that go to a webview as one message. */
const GATHER_MS = 30;

/**
 * What stands in the Conversation. Takes the lead's history and the team's events, keeps the entries, and
 * tells every change as a message for the webviews. It decides and sends nothing.
 */
export class ConversationModel {
  readonly #entries = new Map<string, ConversationEntry>();
  readonly #unshown = new Map<string, TeamMessage>();
  readonly #limit: number;
  readonly #schedule: (callback: () => void) => () => void;
  #trimmed = false;
  #busy = false;
  #streaming: string | undefined;
  #gathered = '';
  #cancelGather: (() => void) | undefined;
  #count = 0;

  constructor(private readonly options: ModelOptions) {
    this.#limit = options.limit ?? 500;
    this.#schedule = options.schedule ?? inAMoment;
  }

  get busy(): boolean {
    return this.#busy;
  }

  /** Everything from top to bottom; what was gathered is sent first, so that nothing is told twice. */
  entries(): readonly ConversationEntry[] {
    this.flush();
    const all = [...this.#entries.values()];
    return this.#trimmed ? [this.#olderLine(), ...all] : all;
  }

  /** Replaces everything. The caller sends the new state. */
  load(entries: readonly ConversationEntry[], unread: readonly TeamMessage[], busy: boolean): void {
    this.clear();
    const kept = entries.slice(-this.#limit);
    this.#trimmed = kept.length < entries.length;
    for (const entry of kept) {
      const cut = entry.kind === 'tool' && entry.state === 'running' && !busy;
      const shown = cut ? { ...entry, state: 'error' as const, result: this.options.texts.stopped } : entry;
      this.#entries.set(shown.id, shown);
    }
    for (const message of unread) this.#heard(message);
    this.#busy = busy;
  }

  clear(): void {
    this.#dropGathered();
    this.#entries.clear();
    this.#unshown.clear();
    this.#trimmed = false;
    this.#streaming = undefined;
    this.#busy = false;
  }

  /** Takes one event of the team; events of teammates' own turns are not part of this conversation. */
  apply(event: TeamEvent): void {
    switch (event.type) {
      case 'message':
        if (event.message.to === LEAD) this.#heard(event.message);
        return;
      case 'taken':
        if (event.member === LEAD) for (const id of event.ids) this.#shown(id);
        return;
      case 'turn_started':
        if (event.member === LEAD) this.#setBusy(true);
        return;
      case 'turn_ended':
        this.#turnEnded(event.member, event.error);
        return;
      case 'text':
        if (event.member === LEAD && event.text !== '') this.#text(event.text);
        return;
      case 'text_void':
        if (event.member === LEAD) this.#voidText();
        return;
      case 'assistant':
        if (event.member === LEAD) this.#assistant(event.text, event.demo);
        return;
      case 'tool_started':
        if (event.member === LEAD) this.#upsert(toolEntry(event.id, event.name, event.input, 'running'));
        return;
      case 'tool_ended':
        if (event.member === LEAD) this.#toolEnded(event.id, event.name, event.result, event.isError);
        return;
      case 'request':
        this.#request(event);
        return;
      case 'notice':
        this.notice(event.level, this.#named(event.member, event.text));
        return;
      default:
        return;
    }
  }

  /** Adds a line that is not the lead's: an error, an answer to a slash command. */
  notice(level: NoticeEntry['level'], text: string, actions: readonly ConversationAction[] = []): void {
    this.#notice(this.#newId('notice'), level, text, actions);
  }

  /** Keeps a line with Go On as long as there is such work. @param names whose it is */
  leftWork(names: readonly string[]): void {
    if (names.length === 0) {
      this.#remove(LEFT_WORK_ID);
      return;
    }
    const text = this.options.texts.leftWork(names);
    const known = this.#entries.get(LEFT_WORK_ID);
    if (known?.kind !== 'notice' || known.text !== text) this.#notice(LEFT_WORK_ID, 'info', text, ['go_on']);
  }

  /** Adds what the human typed where it did not become a message: a slash command. */
  typed(text: string): void {
    this.#upsert({ kind: 'human', id: this.#newId('typed'), text });
  }

  /** Sends the streamed text gathered so far. */
  flush(): void {
    const text = this.#gathered;
    this.#dropGathered();
    if (text !== '' && this.#streaming !== undefined) {
      this.options.post({ type: 'append_text', id: this.#streaming, text });
    }
  }

  #notice(
    id: string,
    level: NoticeEntry['level'],
    text: string,
    actions: readonly ConversationAction[],
  ): void {
    const labels = this.options.texts.actions;
    this.#upsert({
      kind: 'notice',
      id,
      level,
      text,
      actions: actions.map((action) => ({ action, label: labels[action] })),
    });
  }

  #heard(message: TeamMessage): void {
    if (isHumanWords(message)) this.#upsert(mailEntry(message));
    else if (isNews(message)) this.#unshown.set(message.id, message);
  }

  #shown(id: string): void {
    const message = this.#unshown.get(id);
    if (message === undefined) return;
    this.#unshown.delete(id);
    this.#upsert(mailEntry(message));
  }

  #setBusy(busy: boolean): void {
    if (this.#busy === busy) return;
    this.#busy = busy;
    this.options.post({ type: 'busy', busy });
  }

  #turnEnded(member: string, error: TurnError | undefined): void {
    if (member === LEAD) {
      this.#voidText();
      for (const entry of this.#entries.values()) {
        if (entry.kind !== 'tool' || (entry.state !== 'running' && entry.state !== 'waiting')) continue;
        this.#upsert({ ...entry, state: 'error', result: this.options.texts.stopped });
      }
      this.#setBusy(false);
    }
    if (error === undefined) return;
    if (member === LEAD) this.notice('error', error.text, actionsFor(error.kind));
    else {
      const actions = actionsFor(error.kind).filter((action) => action !== 'retry');
      this.notice('error', this.#named(member, error.text), actions);
    }
  }

  /** Says whose news it is, unless the text does. */
  #named(member: string | undefined, text: string): string {
    if (member === undefined || member === LEAD || text.startsWith(`${member} `)) return text;
    return this.options.texts.memberSays(member, text);
  }

  #text(text: string): void {
    const current = this.#streaming === undefined ? undefined : this.#entries.get(this.#streaming);
    if (current?.kind !== 'assistant') {
      const id = this.#newId('said');
      this.#streaming = id;
      this.#upsert({ kind: 'assistant', id, text, streaming: true, demo: this.options.isDemo() });
      return;
    }
    this.#entries.set(current.id, { ...current, text: current.text + text });
    this.#gathered += text;
    this.#cancelGather ??= this.#schedule(() => this.flush());
  }

  #voidText(): void {
    this.#dropGathered();
    if (this.#streaming !== undefined) this.#remove(this.#streaming);
    this.#streaming = undefined;
  }

  #assistant(text: string, demo: boolean): void {
    this.#dropGathered();
    const id = this.#streaming;
    this.#streaming = undefined;
    if (text.trim() === '') {
      if (id !== undefined) this.#remove(id);
      return;
    }
    this.#upsert({ kind: 'assistant', id: id ?? this.#newId('said'), text, streaming: false, demo });
  }

  #toolEnded(id: string, name: string, result: string, isError: boolean): void {
    const known = this.#entries.get(toolId(id));
    const call = known?.kind === 'tool' ? known : toolEntry(id, name, undefined, 'running');
    this.#upsert({ ...call, state: isError ? 'error' : 'done', result: limited(result) });
  }

  #request({ request, change }: Extract<TeamEvent, { type: 'request' }>): void {
    if (request.kind !== 'tool_permission' || request.from !== LEAD || change === 'overdue') return;
    const asked = permissionPayload.safeParse(request.payload);
    if (!asked.success) return;
    const { toolUseId, tool, subject } = asked.data;
    const state: ToolState = change === 'opened' ? 'waiting' : 'running';
    const known = this.#entries.get(toolId(toolUseId));
    if (known === undefined) {
      this.#upsert(toolEntry(toolUseId, tool, { subject }, state));
    } else if (known.kind === 'tool' && (known.state === 'running' || known.state === 'waiting')) {
      this.#upsert({ ...known, state });
    }
  }

  #upsert(entry: ConversationEntry): void {
    this.#entries.set(entry.id, entry);
    this.options.post({ type: 'upsert', entry });
    while (this.#entries.size > this.#limit) this.#dropOldest();
  }

  #dropOldest(): void {
    const oldest = this.#entries.keys().next();
    if (oldest.done) return;
    this.#remove(oldest.value);
    if (this.#trimmed) return;
    this.#trimmed = true;
    this.options.post({ type: 'upsert', entry: this.#olderLine() });
  }

  #remove(id: string): void {
    if (this.#entries.delete(id)) this.options.post({ type: 'remove', id });
  }

  #dropGathered(): void {
    this.#cancelGather?.();
    this.#cancelGather = undefined;
    this.#gathered = '';
  }

  #olderLine(): NoticeEntry {
    return { kind: 'notice', id: OLDER_ID, level: 'info', text: this.options.texts.older, actions: [] };
  }

  #newId(prefix: string): string {
    this.#count += 1;
    return `${prefix}:${this.#count}`;
  }
}

/** What the user can do about a turn that failed. */
export function actionsFor(kind: string): readonly ConversationAction[] {
  switch (kind) {
    case 'no_key':
    case 'bad_key':
    case 'expired_key':
      return ['set_key', 'run_demo'];
    case 'budget':
      return ['raise_budget'];
    case 'no_access':
      return ['allow_access'];
    case 'unknown_model':
    case 'no_tools':
      return ['select_model', 'retry'];
    // A key that was set in Handshake has its address with it; any other takes that of the settings.
    case 'wrong_protocol':
      return ['set_key', 'open_settings', 'retry'];
    case 'unreachable':
      return ['open_settings', 'retry'];
    default:
      return ['retry', 'show_logs'];
  }
}

function inAMoment(callback: () => void): () => void {
  const timer = setTimeout(callback, GATHER_MS);
  return () => clearTimeout(timer);
}
