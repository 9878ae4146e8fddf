import type { Core } from '../agent/coreApi';
import type { Answer } from '../protocol';
import type { TeamEvent } from '../team/events';
import { type FromRequestPanel, fromRequestPanel, isDraft, type ToRequestPanel } from './messages';
import { type RequestTexts, requestView } from './requestPanelModel';

export interface RequestPanelPort {
  core(): Core | undefined;
  readonly texts: RequestTexts;
  readonly drafts: { read(key: string): Promise<string>; write(key: string, text: string): void };
  post(message: ToRequestPanel): PromiseLike<unknown>;
  setTitle(title: string): void;
  openLink(href: string): Promise<void>;
  warn(text: string): void;
  logError(what: string, error: unknown): void;
}

/** Milliseconds in which changes of what a member is doing are drawn as one. */
const REFRESH_MS = 100;

/**
 * One panel and the one request it shows. Knows no editor. It decides only what the human clicks in this
 * panel, and only the request that stands there: a click carries the id it was meant for.
 */
export class RequestPanelController {
  /** The page has asked for its content and still exists. */
  #ready = false;
  #focusFeedback: boolean;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    readonly requestId: string,
    private readonly port: RequestPanelPort,
    focusFeedback = false,
  ) {
    this.#focusFeedback = focusFeedback;
  }

  /** Takes whatever the page posts. */
  async receive(raw: unknown): Promise<void> {
    const parsed = fromRequestPanel.safeParse(raw);
    if (!parsed.success) {
      this.port.warn(
        `The panel of request ${this.requestId} sent something unknown: ${parsed.error.message}`,
      );
      // Whoever clicked must not wait for an answer that cannot come.
      if (!isDraft(raw)) await this.#fail(this.port.texts.notUnderstood);
      return;
    }
    try {
      await this.#take(parsed.data);
    } catch (error) {
      this.port.logError(`The panel of request ${this.requestId} failed`, error);
    }
  }

  /** Draws again, now; a page that is not there yet asks by itself. */
  refresh(focusFeedback = false): void {
    this.#focusFeedback ||= focusFeedback;
    if (!this.#ready) return;
    this.#send().catch((error: unknown) => {
      this.port.logError(`The panel of request ${this.requestId} could not be drawn`, error);
    });
  }

  /** A hidden page is gone; it asks again when it is made again. */
  hidden(): void {
    this.#ready = false;
  }

  onEvent(event: TeamEvent): void {
    if (event.type === 'request') {
      if (event.request.requestId === this.requestId) this.refresh();
      return;
    }
    const member = memberOf(event);
    if (member === undefined || this.#timer !== undefined) return;
    if (this.port.core()?.request(this.requestId)?.work.member !== member) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.refresh();
    }, REFRESH_MS);
  }

  dispose(): void {
    this.#ready = false;
    clearTimeout(this.#timer);
  }

  async #take(message: FromRequestPanel): Promise<void> {
    const { requestId } = this;
    if ('requestId' in message && message.requestId !== requestId) {
      this.port.warn(
        `The panel of request ${requestId} named request ${message.requestId}; nothing was done.`,
      );
      await this.#fail(this.port.texts.otherRequest);
      return;
    }
    switch (message.type) {
      case 'ready':
        this.#ready = true;
        await this.#send();
        return;
      case 'draft':
        if (this.port.core()?.request(requestId)?.status === 'pending') {
          this.port.drafts.write(draftKey(requestId), message.text);
        }
        return;
      case 'edits':
        if (this.port.core()?.request(requestId)?.status === 'pending') {
          this.port.drafts.write(editsKey(requestId), message.text);
        }
        return;
      case 'decide': {
        const { approve, accepted } = message;
        const feedback = message.feedback.trim();
        const answer: Answer = {
          requestId,
          approve,
          by: 'human',
          via: 'ui',
          ...(feedback === '' ? {} : { feedback }),
          // A rejection takes nothing, whatever was edited before.
          ...(accepted === undefined || !approve ? {} : { accepted }),
        };
        await this.#attempt((core) => core.decide(answer));
        return;
      }
      case 'force_stop':
        await this.#attempt(async (core) => {
          const request = core.request(requestId);
          if (request !== undefined) await core.forceStop(request.work.member);
        });
        return;
      case 'open_link':
        await this.port.openLink(message.href);
        return;
    }
  }

  async #attempt(action: (core: Core) => Promise<unknown>): Promise<void> {
    const core = this.port.core();
    if (core === undefined) {
      await this.#fail(this.port.texts.noTeam);
      return;
    }
    try {
      await action(core);
    } catch (error) {
      this.port.logError(`The answer to request ${this.requestId} was not taken`, error);
      await this.#fail(error instanceof Error ? error.message : String(error));
    }
    await this.#send();
  }

  async #fail(text: string): Promise<void> {
    await this.port.post({ type: 'failed', text });
  }

  async #send(): Promise<void> {
    const { requestId, port } = this;
    const draft = await port.drafts.read(draftKey(requestId));
    const core = port.core();
    const request = core?.request(requestId);
    if (core === undefined || request === undefined) {
      const text = core === undefined ? port.texts.noTeam : port.texts.unknownRequest(requestId);
      await port.post({ type: 'missing', text });
      return;
    }
    const isEdited = request.kind === 'team_proposal' && request.status === 'pending';
    const roles = isEdited ? (await core.roles()).roles : [];
    // The files were waited for: what was decided meanwhile is shown.
    const view = requestView(core, core.request(requestId) ?? request, port.texts, roles);
    const edits = view.proposal === undefined ? '' : await port.drafts.read(editsKey(requestId));
    if (view.status !== 'pending') {
      if (draft !== '') port.drafts.write(draftKey(requestId), '');
      if (edits !== '') port.drafts.write(editsKey(requestId), '');
    }
    port.setTitle(view.title);
    const focusFeedback = this.#focusFeedback;
    this.#focusFeedback = false;
    await port.post({ type: 'show', view, draft, ...(edits === '' ? {} : { edits }), focusFeedback });
  }
}

function draftKey(requestId: string): string {
  return `request-${requestId}`;
}

function editsKey(requestId: string): string {
  return `proposal-${requestId}`;
}

/** Whose "doing now" an event may change. */
function memberOf(event: TeamEvent): string | undefined {
  switch (event.type) {
    case 'member':
      return event.name;
    case 'turn_started':
    case 'turn_ended':
    case 'tool_started':
    case 'tool_ended':
      return event.member;
    default:
      return undefined;
  }
}
