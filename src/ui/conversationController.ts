import type { Core } from '../agent/coreApi';
import { LEAD, permissionPayload } from '../protocol';
import type { Disposable, TeamEvent } from '../team/events';
import { assistantText, entriesOf, isHumanWords, toolId } from './conversationEntries';
import { ConversationModel, type ModelOptions } from './conversationModel';
import type { ConversationTexts } from './conversationTexts';
import { leftWork } from './leftWork';
import type { ConversationAction, ConversationEntry, ToConversation } from './messages';
import { readOnlyTexts } from './ownershipTexts';

export interface ControllerHost {
  core(): Core | undefined;
  whyNoCore(): string;
  modelState(): { demo: boolean; ready: boolean };
  hasFolder(): boolean;
  run(action: ConversationAction): void;
  /** Sends to every view that listens. */
  post(message: ToConversation): void;
  /** Puts the text into every input and keeps it for the next start. */
  setDraft(text: string): void;
  draft(): string;
  logError(what: string, error: unknown): void;
}

interface Sending {
  text: string;
  accepted: boolean;
}

/** With what a member that waits since a restart goes on, or leaves. */
const CHANGES_LEFT_WORK: ReadonlySet<string> = new Set([
  'conversation_reset',
  'member',
  'request',
  'task',
  'turn_started',
  'turn_ended',
]);

const ANSWERS = {
  team: (core: Core) => core.describeTeam(),
  inbox: (core: Core) => core.describeInbox(),
  tasks: (core: Core) => core.describeTasks(),
};

const isAnswered = (name: string): name is keyof typeof ANSWERS => Object.hasOwn(ANSWERS, name);

/**
 * The command that a text is. With a blank in front only one of ours that stands alone: with that, whatever else begins
 * with a slash can be said to the lead.
 */
function commandIn(text: string): string | undefined {
  const name = /^\/([a-z][\w-]*)(?=\s|$)/i.exec(text)?.[1]?.toLowerCase();
  if (name !== undefined) return name;
  const alone = /^\s+\/([a-z]+)\s*$/i.exec(text)?.[1]?.toLowerCase();
  return alone !== undefined && (alone === 'help' || isAnswered(alone)) ? alone : undefined;
}

/** What is done with what the human types and clicks in the Conversation. Knows no editor. */
export class ConversationController {
  readonly model: ConversationModel;
  #core: Core | undefined;
  #subscription: Disposable | undefined;
  /** Events that came while the history was being read. */
  #waiting: TeamEvent[] | undefined;
  readonly #sending = new Set<Sending>();
  #turnErrors = 0;

  constructor(
    private readonly host: ControllerHost,
    private readonly texts: ConversationTexts,
    options: Pick<ModelOptions, 'schedule' | 'limit'> = {},
  ) {
    this.model = new ConversationModel({
      ...options,
      texts,
      post: (message) => host.post(message),
      isDemo: () => host.modelState().demo,
    });
  }

  state(): ToConversation {
    const { demo, ready } = this.host.modelState();
    const noFolder = this.host.core() === undefined && !this.host.hasFolder();
    const reason = this.host.core()?.readOnly;
    const welcome: ConversationAction[] = noFolder
      ? ['open_folder']
      : ready || reason
        ? []
        : ['run_demo', 'set_key'];
    return {
      type: 'state',
      entries: [...this.model.entries()],
      busy: this.model.busy,
      demo,
      draft: this.host.draft(),
      suggestions: noFolder || reason ? [] : [...this.texts.suggestions],
      welcome: welcome.map((action) => ({ action, label: this.texts.actions[action] })),
      ...(reason === undefined ? {} : { readOnly: readOnlyTexts(reason) }),
    };
  }

  /** Follows the host's present team, or none; the same team as before only sends the state again. */
  async attach(): Promise<void> {
    const core = this.host.core();
    if (core === this.#core) {
      this.host.post(this.state());
      return;
    }
    this.#subscription?.dispose();
    this.#core = core;
    this.model.clear();
    this.#waiting = [];
    this.#subscription = core?.on((event) => this.#take(event));
    if (core !== undefined) await this.#readHistory(core);
    // Another team may have come while this one's history was read; it then does the rest.
    if (this.#core !== core) return;
    this.#waiting = undefined;
    this.host.post(this.state());
  }

  async send(text: string): Promise<void> {
    const command = commandIn(text);
    if (command !== undefined) {
      this.#command(command, text);
      return;
    }
    const core = this.host.core();
    if (core === undefined) {
      this.#giveBack(text);
      this.model.notice('error', this.host.whyNoCore(), this.host.hasFolder() ? [] : ['open_folder']);
      return;
    }
    const sending: Sending = { text, accepted: false };
    const errorsBefore = this.#turnErrors;
    this.#sending.add(sending);
    try {
      await core.sendToLead(text);
    } catch (error) {
      this.host.logError('A message to the lead failed', error);
      const reason = error instanceof Error ? error.message : String(error);
      if (!sending.accepted) {
        this.#giveBack(text);
        this.model.notice('error', this.texts.notSent(reason), ['show_logs']);
      } else if (this.#turnErrors === errorsBefore) {
        this.model.notice('error', reason, ['retry', 'show_logs']);
      }
    } finally {
      this.#sending.delete(sending);
    }
  }

  /** A page sent something that nothing can be made of. */
  notUnderstood(): void {
    this.model.notice('error', this.texts.notUnderstood, ['show_logs']);
  }

  async stop(): Promise<void> {
    try {
      await this.host.core()?.interrupt(LEAD);
    } catch (error) {
      this.#tell('The lead could not be stopped', error);
    }
  }

  async act(action: ConversationAction): Promise<void> {
    if (action === 'retry') await this.#retry();
    else this.host.run(action);
  }

  dispose(): void {
    this.#subscription?.dispose();
    this.#core = undefined;
    this.model.clear();
  }

  /** Takes the failed turn up again; nothing that was said or done before is repeated. */
  async #retry(): Promise<void> {
    try {
      await this.host.core()?.retry(LEAD);
    } catch (error) {
      this.#tell('The lead could not try again', error);
    }
  }

  #command(name: string, text: string): void {
    if (name !== 'help' && !isAnswered(name)) {
      this.#giveBack(text);
      this.model.notice('warning', this.texts.unknownCommand(name));
      return;
    }
    const core = this.host.core();
    if (core === undefined && name !== 'help') {
      this.model.typed(text.trim());
      this.model.notice('warning', this.host.whyNoCore(), this.host.hasFolder() ? [] : ['open_folder']);
      return;
    }
    this.model.typed(text.trim());
    this.model.notice('info', core === undefined || name === 'help' ? this.texts.help : ANSWERS[name](core));
  }

  #tell(what: string, error: unknown): void {
    this.host.logError(what, error);
    this.model.notice('error', error instanceof Error ? error.message : String(error), ['show_logs']);
  }

  #giveBack(text: string): void {
    const typed = this.host.draft();
    this.host.setDraft(typed === '' ? text : `${text}\n${typed}`);
  }

  #take(event: TeamEvent): void {
    if (event.type === 'message' && isHumanWords(event.message)) {
      for (const sending of this.#sending) {
        if (sending.accepted || sending.text !== event.message.content) continue;
        sending.accepted = true;
        break;
      }
    }
    if (event.type === 'turn_ended' && event.member === LEAD && event.error) this.#turnErrors += 1;
    if (event.type === 'conversation_reset') {
      // What the lead has not read yet it answers in the new conversation.
      this.model.load([], this.#core?.unread(LEAD) ?? [], false);
      this.#waiting = this.#waiting && [];
      this.host.post(this.state());
    } else if (this.#waiting !== undefined) this.#waiting.push(event);
    else this.model.apply(event);
    if (this.#waiting === undefined && CHANGES_LEFT_WORK.has(event.type)) this.#showLeftWork();
  }

  #showLeftWork(): void {
    if (this.#core) this.model.leftWork(leftWork(this.#core));
  }

  async #readHistory(core: Core): Promise<void> {
    let entries: ConversationEntry[] = [];
    let known = new Set<string>();
    let problem: string | undefined;
    try {
      const records = await core.transcript(LEAD);
      entries = entriesOf(records);
      known = new Set(records.slice(-3).map(assistantText));
    } catch (error) {
      this.host.logError('The transcript of the lead could not be read', error);
      problem = error instanceof Error ? error.message : String(error);
    }
    if (this.#core !== core) return;
    const status = core.leadStatus().status;
    this.model.load(
      this.#withWaiting(core, entries),
      core.unread(LEAD),
      status === 'working' || status === 'waiting',
    );
    if (problem !== undefined) this.model.notice('error', this.texts.historyFailed(problem), ['show_logs']);
    const events = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const event of events) {
      // The record of this turn was on disk before its event came, so the history has it already.
      if (event.type === 'assistant' && event.member === LEAD && known.has(event.text)) continue;
      this.model.apply(event);
    }
    this.#showLeftWork();
  }

  #withWaiting(core: Core, entries: ConversationEntry[]): ConversationEntry[] {
    const waiting = new Set<string>();
    for (const request of core.requests()) {
      if (request.kind !== 'tool_permission' || request.status !== 'pending' || request.from !== LEAD)
        continue;
      const asked = permissionPayload.safeParse(request.payload);
      if (asked.success) waiting.add(toolId(asked.data.toolUseId));
    }
    return entries.map((entry) =>
      entry.kind === 'tool' && entry.state === 'running' && waiting.has(entry.id)
        ? { ...entry, state: 'waiting' }
        : entry,
    );
  }
}
