import type { Answer, Gate, HandshakeRequest, RoleList, TeamMessage, Way } from '../protocol';
import type { BudgetState } from '../team/budgets';
import type { Disposable, TeamEvent } from '../team/events';
import type { Lease } from '../team/leaseRecords';
import type { Member } from '../team/member';
import type { NewTask, Task, TaskEdit } from '../team/task';
import type { ModelUsage } from '../team/usageBook';
import type { Doing } from './doing';
import type { Hold, HoldKind } from './hold';
import type { ReadOnlyReason } from './readOnly';
import type { ReviewCore } from './reviewApi';
import type { TranscriptRecord } from './transcript';

/** What a member is doing, for the Team view. */
export interface MemberActivity {
  /** Left out when nothing runs. */
  doing?: Doing;
  /** What it is doing waits for a permission. */
  asksPermission?: true;
  /** What it waits for before it calls its model again. */
  hold?: Hold;
}

export interface SpawnInput {
  name: string;
  /** Free text, or the name of a role file. */
  role: string;
  prompt: string;
  requirePlan?: boolean;
  model?: string;
  /** A ready task of the board that it begins with. */
  taskId?: string;
}

/**
 * All that is above the core (trees, panels, commands, the exported API) may ask of it. Methods that fail
 * reject with an `Error` whose message is meant for the user; a refused decision rejects with a `Refusal`.
 */
export interface Core extends ReviewCore {
  readonly teamName: string;
  /** Why this window only shows the team; undefined where it runs it. Changing methods then reject with a `ReadOnlyError`. */
  readonly readOnly?: ReadOnlyReason;
  /** Teammates in the order they first came; those that have shut down included. */
  members(): readonly Member[];
  member(name: string): Member | undefined;
  /** The lead's own state: `working` while a turn runs, `waiting` on a permission, `failed` with the reason, else `idle`. */
  leadStatus(): { status: 'working' | 'waiting' | 'idle' | 'failed'; reason?: string };
  activity(name: string): MemberActivity;
  gateOf(name: string): Gate;
  /** The tokens of a member's present start, or of the whole team for all time; one entry a model. */
  usage(name?: string): readonly ModelUsage[];
  /** How far a member, or the whole team, is with the tokens it may use. */
  budget(name?: string): BudgetState;
  /** Oldest first. */
  requests(): readonly HandshakeRequest[];
  request(requestId: string): HandshakeRequest | undefined;
  isOverdue(request: HandshakeRequest): boolean;
  /** Messages the member has not been shown. */
  unread(name: string): readonly TeamMessage[];
  /** Which files are being changed, by whom and since when. */
  leases(): readonly Lease[];
  /** The roster in words, as `/team` and the tool `list_teammates` show it. */
  describeTeam(): string;
  /** What waits, in words, as `/inbox` shows it. */
  describeInbox(): string;
  /** The board in the order its tasks were made. */
  tasks(): readonly Task[];
  task(id: string): Task | undefined;
  /** Whether anybody may claim it now. */
  isReady(id: string): boolean;
  /** The board in words, as `/tasks` and the tool `list_tasks` show it. */
  describeTasks(): string;

  /** The reusable roles of the workspace's files as they are now, and what is wrong with the others. */
  roles(): Promise<RoleList>;

  /** @throws {Refusal} with the first check that fails */
  decide(answer: Answer): Promise<HandshakeRequest>;
  /**
   * Asked before something that only the human may do and that is no answer to a request.
   * @param what is not done, as in "the work of t1 is not accepted"
   * @param instead a sentence on what to do
   * @throws {Refusal} `not_allowed` while a tool of others runs that could have sent it
   */
  refuseFromCode(what: string, instead: string, way: Way): void;
  /** Resolves when the turn that took the text has ended; rejects when that turn failed. */
  sendToLead(text: string): Promise<void>;
  spawn(input: SpawnInput, by: string): Promise<Member>;
  /** A message of the human to a teammate (or to `lead`, as `sendToLead` without waiting for the turn). */
  sendMessage(name: string, text: string): Promise<void>;
  /** @returns how many it reached */
  broadcast(text: string): Promise<number>;
  /** The pending request's id, a new one or the one already pending. */
  requestShutdown(name: string, reason?: string): Promise<HandshakeRequest>;
  requestPlan(name: string, topic?: string): Promise<void>;
  /** Stops what the member (or `lead`) is doing now; its conversation stays valid and its mail is taken next. */
  interrupt(name: string): Promise<void>;
  forceStop(name: string): Promise<void>;
  /** Calls the model once more after a failed turn, for `lead` or a teammate. */
  retry(name: string): Promise<void>;
  /** There is another key, model or endpoint: members that wait for a key go on. */
  modelChanged(): void;
  /** After a restart: members with mail or work that wait for the human's word to go on. */
  resumable(): readonly string[];
  resume(): void;
  /** Interrupts everybody. */
  stopAll(): Promise<void>;
  /**
   * Lets a member, or the whole team, use so many tokens in all (null: without an end); who waited for that
   * goes on.
   */
  allowTokens(limit: number | null, name?: string): Promise<void>;
  /** Something changed that members may be waiting for, such as a setting: those that can go on do. */
  recheck(kind: Exclude<HoldKind, 'restart'>): void;
  /** The lead forgets the present conversation (its transcript stays on disk). */
  newConversation(): Promise<void>;
  /** What the human does on the board; the same checks as for the tools. An owner that is concerned is told. */
  createTask(task: NewTask): Promise<Task>;
  updateTask(id: string, edit: TaskEdit): Promise<Task>;
  /** Gives a ready task to a member (or to `lead`), or one that another has under way. */
  assignTask(id: string, member: string): Promise<Task>;
  /** Takes a task from its owner; the note stays with the task. */
  releaseTask(id: string, note?: string): Promise<Task>;
  /** Closes a task in its owner's place, or one that nobody has. */
  completeTask(id: string, result: string): Promise<Task>;
  /** Removes teammates that have shut down from the roster; refused while one is alive. */
  cleanUpTeam(): Promise<void>;

  transcript(name: string): Promise<readonly TranscriptRecord[]>;
  whenIdle(timeoutMs?: number): Promise<void>;
  /** Every event from now on; first the notices about what was found when the team was opened. */
  on(listener: (event: TeamEvent) => void): Disposable;
  dispose(): Promise<void>;
}
