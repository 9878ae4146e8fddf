import type { CallLimiter } from '../model/limiter';
import type { CallCounts, LanguageModel, ModelError } from '../model/port';
import type { WaitState } from '../model/waitState';
import { isProtocol, LEAD, renderMail, type TeamMessage } from '../protocol';
import type { TeamEvent } from '../team/events';
import type { Team } from '../team/team';
import type { OfferedTools } from '../tools';
import { callWithinContext } from './compaction';
import type { Conversation } from './conversation';
import { type DispatchContext, dispatch } from './dispatch';
import type { Nudge } from './nudges';
import { ReplyCheck } from './replyCheck';

export type TurnEnd =
  /** The model had nothing more to do; `text` is its last word. */
  | { type: 'done'; text: string }
  /** A shutdown was approved, or the member was stopped. */
  | { type: 'left' }
  | { type: 'interrupted' }
  /** As many model calls as `handshake.maxTurns` allows. */
  | { type: 'limit'; calls: number };

/** What the runner lends a turn: its member's state and the switches that end things early. */
export interface TurnHost {
  readonly name: string;
  readonly team: Team;
  readonly conversation: Conversation;
  readonly system: string;
  readonly model?: string;
  /** Asked for each call: the settings may change while a turn runs. */
  offeredTools(): OfferedTools;
  maxCalls(): number;
  now(): number;
  languageModel(): Promise<LanguageModel>;
  /** Shared by all members of the team. */
  readonly limiter: CallLimiter;
  /** Told what a model call waits for; undefined when it is made. */
  onWait(state: WaitState | undefined): void;
  /** Takes in what other programs put into the inbox file. */
  takeForeign(): Promise<void>;
  /** A signal for one model call; aborted by an interrupt, an approved shutdown or a stop. */
  callSignal(): AbortSignal;
  dispatchContext(
    taken: TeamMessage[],
    offered: OfferedTools,
  ): Omit<DispatchContext, 'turn' | 'resumedSince'>;
  /** Whether the member has to leave now. */
  mustLeave(): boolean;
  wasInterrupted(): boolean;
  onShown(messages: readonly TeamMessage[]): void;
  /** Asked before each call, and before each try of it. @throws when it must not be made now */
  mayCall(): void;
  /** A call has been answered, or broke off after its endpoint had begun to count it. */
  onCounted(call: CallCounts & { brokeOff?: true }): void;
  /** A try of a call failed, and another follows; `tries` is how many there were. */
  onRetry(error: ModelError, tries: number): void;
  emit(event: TeamEvent): void;
  /**
   * Asked when the model ends without a tool call while something still needs one.
   * @returns what to tell it, or undefined
   */
  nudge(): Nudge | undefined;
  /** Whether what was asked for once more is still open. */
  isOpen(key: string): boolean;
  /** The model has replied to it, in whatever way. */
  onNudged(key: string): void;
}

/**
 * One turn of a member: mail, model call, tools, and again, until the model has nothing more to do. Mail is
 * taken before every model call, so a busy member has it between two tool calls.
 * @throws {ModelError} when a call fails; the conversation is valid and the turn can be taken up again
 */
export async function runTurn(host: TurnHost): Promise<TurnEnd> {
  // What a closed window or a full disk cut off comes first: the API wants every call answered.
  await answerCalls(host, host.offeredTools(), true);
  const check = new ReplyCheck(host.name, (event) => host.emit(event));
  for (let calls = 0; ; calls++) {
    if (host.mustLeave()) return { type: 'left' };
    await host.takeForeign();
    // Before mail is taken: what comes with an interrupt is for the next turn.
    if (host.wasInterrupted()) return { type: 'interrupted' };
    // A turn that the model only paused goes back as it is.
    if (!host.conversation.isPaused) await showMail(host, inOrder(host.name, unshown(host)));
    if (!host.conversation.awaitsReply) {
      // After a restart the last word may have been prose where a tool is needed.
      const nudge = host.nudge();
      if (nudge === undefined) return { type: 'done', text: '' };
      await addNudge(host, nudge);
    }
    if (calls >= host.maxCalls()) return { type: 'limit', calls };
    host.mayCall();
    const offered = host.offeredTools();
    const nudged = host.conversation.openNudge;
    const forceTool = nudged && host.isOpen(nudged.key) ? nudged.forceTool : undefined;
    const reply = await callWithinContext(host, offered, forceTool);
    if (reply === undefined) return host.mustLeave() ? { type: 'left' } : { type: 'interrupted' };
    // What a call changes must not outlive the call; reading leaves no traces.
    const changes = reply.content.some(
      (block) => block.type === 'tool_use' && offered.effectOf(block.name) !== 'read',
    );
    await host.conversation.addAssistant(
      { role: 'assistant', content: reply.content },
      reply.demo,
      host.now(),
      { sync: changes, paused: reply.stopReason === 'pause_turn' },
    );
    if (nudged) host.onNudged(nudged.key);
    if (reply.content.some((block) => block.type === 'tool_use')) {
      await answerCalls(host, offered, false);
      continue;
    }
    if (host.mustLeave()) return { type: 'left' };
    if (host.conversation.isPaused) continue;
    const missing = check.ask(
      reply,
      offered.specs.map(({ name }) => name),
    );
    if (missing !== undefined) {
      await host.conversation.addNote(missing, host.now());
      continue;
    }
    if (unshown(host).some((message) => message.type !== 'idle_notification')) continue;
    const nudge = host.nudge();
    if (nudge === undefined) return { type: 'done', text: check.wholeText(reply) };
    await addNudge(host, nudge);
  }
}

function addNudge(host: TurnHost, { key, message, forceTool }: Nudge): Promise<void> {
  const nudge = forceTool === undefined ? { key } : { key, forceTool };
  return host.conversation.addNudge(renderMail(message), nudge, host.now());
}

/**
 * Runs the open calls; what is done is in the transcript before the next one begins.
 * @param offered the tools the model had when it made them
 * @param resumed true where some of them may have begun before
 */
export async function answerCalls(host: TurnHost, offered: OfferedTools, resumed: boolean): Promise<void> {
  const { conversation } = host;
  if (conversation.unanswered.length === 0) return;
  const taken: TeamMessage[] = [];
  const context: DispatchContext = {
    ...host.dispatchContext(taken, offered),
    turn: conversation.turnNumber,
    ...(resumed ? { resumedSince: conversation.calledAt } : {}),
  };
  await dispatch([...conversation.unanswered], context, async (results) => {
    const mail = taken.splice(0);
    await conversation.addResults(results, mail, host.now());
    host.onShown(mail);
  });
}

function unshown(host: TurnHost): TeamMessage[] {
  return host.team.unread(host.name).filter((message) => !host.conversation.hasShown(message.id));
}

/** Requests and their answers before what members say; the lead reads in the order in which all came. */
function inOrder(name: string, mail: TeamMessage[]): TeamMessage[] {
  if (name === LEAD) return mail;
  return [
    ...mail.filter((message) => isProtocol(message)),
    ...mail.filter((message) => !isProtocol(message)),
  ];
}

async function showMail(host: TurnHost, messages: readonly TeamMessage[]): Promise<void> {
  if (messages.length > 0) {
    const { registry } = host.team.decisions;
    const render = (message: TeamMessage): string => {
      const request = message.request_id === undefined ? undefined : registry.get(message.request_id);
      const asks = message.id === `${message.request_id}-ask`;
      return renderMail(message, asks && request?.status !== 'pending' ? request?.status : undefined);
    };
    await host.conversation.addMail(messages, render, host.now());
  }
  host.onShown(messages);
}
