import type { ImagePart, ToolResultBlock, ToolUseBlock } from '../model/port';
import { blockedText, type HandshakeRequest, isOpen, LEAD, permissionPayload, Refusal } from '../protocol';
import type { BegunCall } from '../team/calls';
import type { TeamEvent } from '../team/events';
import type { PermissionMode } from '../team/settings';
import type { Team } from '../team/team';
import type { OfferedTools, PreparedCall, Tool, ToolContext, ToolOutput } from '../tools';
import { overlapOf } from './overlap';
import { needsPermission } from './permission';
import type { HeldPlace } from './workPlaces';

/** What one batch of tool calls is run with. */
export interface DispatchContext {
  member: string;
  incarnation: number;
  team: Team;
  mode: () => PermissionMode;
  /** What the model call was offered whose answer is run. */
  offered: OfferedTools;
  /** The parts of a tool's context that do not depend on the call. */
  toolContext: Omit<ToolContext, 'call' | 'workspace'>;
  /** Where the member's tools work now. */
  place(): Promise<HeldPlace>;
  /** Of the member's conversation: with the call's id it names the call for ever. */
  turn: number;
  /**
   * Set where a closed window cut the batch off: when the model made the calls (milliseconds since the epoch).
   * Those that had begun do not begin again, and permissions asked since then still count.
   */
  resumedSince?: number;
  /** True when the window closes: calls that have not begun are left for the next one. */
  isSuspended(): boolean;
  /** Whether mail waits that a batch from before a restart must not keep waiting. */
  hasUrgentMail(): boolean;
  /** Why no further call may begin, or undefined. Asked before each call, in the same tick as its start. */
  stopReason(): string | undefined;
  /** Resolves when the member is stopped for good; a wait for a person then ends even if nothing can be written. */
  whenStopped: Promise<void>;
  /** Told while calls wait for a person; such a wait is not running. */
  onWaiting(requestId: string, waiting: boolean): void;
  emit(event: TeamEvent): void;
}

/** The window closes in the middle of a batch; what is left of it goes on when the team is opened again. */
export class Suspended extends Error {
  override readonly name = 'Suspended';
  constructor() {
    super('The window is being closed.');
  }
}

const STEERS =
  'This file says what VS Code and its tools run, or how agents behave. It is asked for whatever plan was approved.';

const MAY_HAVE_RUN =
  'Cut off: the window closed while this call was under way. It may have run; look before you repeat it.';

const MOVED =
  'Not run: your task changed meanwhile, and with it the folder that your tools work in. Look again first.';

interface Outcome {
  result: string;
  images?: ImagePart[];
  isError: boolean;
}

/**
 * Runs the calls of one assistant turn. Every call gets exactly one result, in the order of the calls: an
 * unknown tool, bad input, a shut gate, a refusal, a thrown error and a stop are all results for the model.
 * Neighbouring reads run together; everything else in order.
 * @param onResults takes the results as they come, before the next call begins
 * @throws {Suspended} when the window closes; calls without a result are left open
 */
export async function dispatch(
  calls: readonly ToolUseBlock[],
  context: DispatchContext,
  onResults: (results: readonly ToolResultBlock[]) => Promise<void>,
): Promise<void> {
  for (let i = 0; i < calls.length; ) {
    let end = i + 1;
    const { offered } = context;
    if (isRead(calls[i], offered)) while (end < calls.length && isRead(calls[end], offered)) end++;
    await onResults(await Promise.all(calls.slice(i, end).map((call) => runCall(call, context))));
    i = end;
  }
}

function isRead(call: ToolUseBlock | undefined, offered: OfferedTools): boolean {
  return call !== undefined && offered.find(call.name)?.tool.effect === 'read';
}

async function runCall(call: ToolUseBlock, context: DispatchContext): Promise<ToolResultBlock> {
  const { member, emit } = context;
  emit({ type: 'tool_started', member, id: call.id, name: call.name, input: call.input });
  const { result, images, isError } = await attempt(call, context);
  emit({ type: 'tool_ended', member, id: call.id, name: call.name, result, isError });
  const block: ToolResultBlock = { type: 'tool_result', tool_use_id: call.id, content: result };
  if (images) block.images = images;
  if (isError) block.is_error = true;
  return block;
}

async function attempt(call: ToolUseBlock, context: DispatchContext): Promise<Outcome> {
  if (context.isSuspended()) throw new Suspended();
  const ref = { member: context.member, incarnation: context.incarnation, id: call.id };
  const begun = context.resumedSince !== undefined && context.team.state.calls.find(ref, context.turn);
  if (begun) return recounted(begun, context.offered);
  const { resumedSince, team, member } = context;
  if (
    resumedSince !== undefined &&
    !isRead(call, context.offered) &&
    team.state.permits.mayHaveBegun(member, call.id, resumedSince)
  ) {
    return { result: MAY_HAVE_RUN, isError: true };
  }
  try {
    const stopped = context.stopReason() ?? (await overtaken(call, context));
    if (stopped !== undefined) return { result: `Not run: ${stopped}`, isError: true };
    const found = context.offered.find(call.name);
    if (!found) return failed(`There is no tool '${call.name}'.`);
    const { tool } = found;
    if (call.inputError !== undefined)
      return failed(`The input of ${call.name} did not arrive whole: ${call.inputError}`);
    const prepared = found.face.prepare(call.input);
    const blocked = gateRefusal(tool, context);
    if (blocked !== undefined) return { result: blocked, isError: true };
    const place = await context.place();
    const toolContext: ToolContext = { ...context.toolContext, call: ref, workspace: place.workspace };
    const overlap = await overlapOf(prepared, toolContext);
    const told = await overlap?.refusal();
    if (told !== undefined) return { result: told, isError: true };
    const refused = await permit(call, tool, prepared, toolContext, { ...context, folder: place.folder });
    if (refused !== undefined) return { result: refused, isError: true };
    if (overlap !== undefined) {
      const news = await overlap.begin((records) =>
        context.team.marks.begun(ref, tool.name, context.turn, records),
      );
      if (news !== undefined) return { result: news, isError: true };
    } else if (tool.effect !== 'read' && tool.oneRecord !== true) {
      await context.team.marks.begun(ref, tool.name, context.turn);
    }
    // Again, and in the tick in which the handler starts: much can have changed while a person was asked.
    const late = lateRefusal(tool, context) ?? (tool.effect !== 'team' && place.moved() ? MOVED : undefined);
    if (late !== undefined) return { result: late, isError: true };
    const output = await run(tool, prepared, toolContext, context.turn);
    if (typeof output === 'string') return { result: output, isError: false };
    return { result: output.text, images: output.images, isError: false };
  } catch (error) {
    if (error instanceof Suspended) throw error;
    return failed(error instanceof Error ? error.message : String(error));
  }
}

async function run(
  tool: Tool,
  prepared: PreparedCall,
  toolContext: ToolContext,
  turn: number,
): Promise<string | ToolOutput> {
  const { team, call } = toolContext;
  const ends = [
    ...(tool.foreign ? [team.decisions.beginForeignCall()] : []),
    ...(tool.oneRecord ? [team.marks.beginsWithRecord(call, tool.name, turn)] : []),
  ];
  try {
    return await prepared.run(toolContext);
  } finally {
    for (const end of ends) end();
  }
}

/**
 * A batch that a closed window cut off does not go on ahead of what the human has said since, unless a call was
 * permitted already. @returns the reason not to run the call, or undefined
 */
async function overtaken(call: ToolUseBlock, context: DispatchContext): Promise<string | undefined> {
  const { team, member, incarnation, resumedSince } = context;
  if (resumedSince === undefined || !context.hasUrgentMail()) return undefined;
  const asked = team.state.permits.permissionFor(member, incarnation, call.id, resumedSince);
  if (asked?.status === 'approved') return undefined;
  if (asked !== undefined) await team.decisions.cancel([asked.requestId], 'call_ended');
  return 'a message came that has to be read first.';
}

/** The result of a call that had begun when the window closed: what is known of it, or that nobody knows. */
function recounted({ tool, done }: BegunCall, offered: OfferedTools): Outcome {
  if (done.length > 0) return { result: done.join('\n'), isError: false };
  // What a team tool does is in the journal, in one piece with the mark of its call.
  const result =
    offered.effectOf(tool) === 'team'
      ? 'Cut off: the window closed before this call took effect. Nothing was changed.'
      : MAY_HAVE_RUN;
  return { result, isError: true };
}

function failed(message: string): Outcome {
  return { result: `Error: ${message}`, isError: true };
}

/** The plan gate, where tools are dispatched; the handler is not called while it is shut. */
function gateRefusal(tool: Tool, { member, team }: DispatchContext): string | undefined {
  if (tool.effect !== 'workspace' || member === LEAD) return undefined;
  const gate = team.decisions.gateOf(member);
  return isOpen(gate) ? undefined : blockedText(gate);
}

/** Whether the gate, the incarnation, a granted shutdown or an interrupt forbids the call by now. */
function lateRefusal(tool: Tool, context: DispatchContext): string | undefined {
  if (context.team.isFenced(context.member, context.incarnation)) return 'Not run: this member was stopped.';
  const stopped = context.stopReason();
  return stopped === undefined ? gateRefusal(tool, context) : `Not run: ${stopped}`;
}

type PlacedContext = DispatchContext & { folder: string | undefined };

/** @returns why the call may not run, or undefined */
async function permit(
  call: ToolUseBlock,
  tool: Tool,
  prepared: PreparedCall,
  toolContext: ToolContext,
  context: PlacedContext,
): Promise<string | undefined> {
  const { team, member } = context;
  if (tool.foreign) {
    const told = await prepared.access?.(toolContext);
    const subject = told?.subject ?? JSON.stringify(call.input);
    // Nobody knows what code of others does: it counts as a command, whatever it says of itself.
    const access = { ...told, access: 'command' as const, subject };
    return needsPermission(context.mode(), 'command', 'not_required')
      ? askHuman(call, access, context)
      : undefined;
  }
  if (!prepared.access) return undefined;
  const access = await prepared.access(toolContext);
  const gate = member === LEAD ? 'not_required' : team.decisions.gateOf(member);
  const steers = access.access === 'edit' && (await prepared.file?.(toolContext))?.steers === true;
  if (!needsPermission(context.mode(), steers ? 'steering' : access.access, gate)) return undefined;
  return askHuman(call, steers ? { ...access, description: STEERS } : access, context);
}

async function askHuman(
  call: ToolUseBlock,
  access: { access: 'command' | 'edit'; subject: string; preview?: string; description?: string },
  context: PlacedContext,
): Promise<string | undefined> {
  const { team, member, folder } = context;
  const work = team.decisions.currentWork(member);
  if (!work || work.incarnation !== context.incarnation) return 'Not run: this member was stopped.';
  const request =
    (await askedBefore(call, access, context)) ??
    (await team.decisions.open({
      kind: 'tool_permission',
      from: member,
      to: 'human',
      payload: {
        tool: call.name,
        toolUseId: call.id,
        ...access,
        ...(folder === undefined ? {} : { folder }),
      },
      work,
    }));
  context.onWaiting(request.requestId, true);
  try {
    const settled = await Promise.race([
      team.decisions.whenSettled(request.requestId),
      context.whenStopped.then(() => undefined),
    ]);
    if (context.isSuspended()) throw new Suspended();
    if (settled === undefined) return 'Not run: this member was stopped.';
    if (settled.status === 'approved') return undefined;
    if (settled.status === 'rejected') {
      const feedback = settled.feedback ? ` Feedback: ${settled.feedback}` : '';
      return `Refused: ${settled.decidedBy ?? 'the human'} did not permit this call.${feedback}`;
    }
    return `Not run: the wait for permission ended (${settled.cancelReason ?? 'withdrawn'}). Ask again if it is still needed.`;
  } catch (error) {
    if (error instanceof Refusal) return `Not run: ${error.message}`;
    throw error;
  } finally {
    context.onWaiting(request.requestId, false);
  }
}

/** The request with which a call that was cut off has asked for the very same thing, if it still counts. */
async function askedBefore(
  call: ToolUseBlock,
  access: { access: 'command' | 'edit'; subject: string; preview?: string },
  { member, incarnation, team, resumedSince, folder }: PlacedContext,
): Promise<HandshakeRequest | undefined> {
  if (resumedSince === undefined) return undefined;
  const request = team.state.permits.permissionFor(member, incarnation, call.id, resumedSince);
  if (request === undefined || request.status === 'cancelled') return undefined;
  const asked = permissionPayload.parse(request.payload);
  const same =
    asked.tool === call.name &&
    asked.access === access.access &&
    asked.subject === access.subject &&
    asked.folder === folder &&
    asked.preview === access.preview;
  if (same) return request;
  // What it would change has changed: nobody is to approve the old one any more.
  await team.decisions.cancel([request.requestId], 'superseded: asked again with what it would do now');
  return undefined;
}
