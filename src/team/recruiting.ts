import {
  type AcceptedProposal,
  LEAD,
  type ProposalPayload,
  type ProposedMember,
  parseMemberName,
  proposalPayload,
  shorten,
} from '../protocol';
import { type Board, taskLock } from './board';
import { Enlisting, type MadeTask, type MemberRecord } from './enlisting';
import type { Ledger } from './ledger';
import type { KeyedLock } from './locks';
import { isGone, type Member } from './member';
import type { Clock, RoleSource, UsedRole } from './ports';
import type { LeftOut } from './proposalTexts';
import type { CallRef } from './recordParts';
import type { TeamRecord } from './records';
import type { CoreSettings } from './settings';
import { TeamError } from './teamError';

export interface SpawnOrder {
  name: unknown;
  role: string;
  prompt: string;
  requirePlan?: boolean;
  model?: string;
  /** A task of the board that it begins with. */
  taskId?: string;
}

/** An order that has been looked at, with what its role's file gives. */
type Recruit = CheckedOrder & { used?: UsedRole };

/** What an accepted proposal comes to. */
export interface ProposalStart {
  records: readonly TeamRecord[];
  leftOut: readonly LeftOut[];
  tasks: readonly MadeTask[];
}

/** How teammates come into the team: one by one, or several with one decision. */
export class Recruiting {
  #roles: RoleSource = { use: async () => undefined };

  constructor(
    private readonly ledger: Ledger,
    private readonly locks: KeyedLock,
    private readonly clock: Clock,
    private readonly settings: () => CoreSettings,
    private readonly board: Board,
    /** Starts the loop of a teammate whose record has been written. */
    private readonly begin: (name: string) => Member,
  ) {}

  useRoles(roles: RoleSource): void {
    this.#roles = roles;
  }

  /** Starts a teammate, by a tool call where it is one. A name whose bearer has shut down may be used again. @throws {TeamError} */
  async spawn(order: SpawnOrder, by: string, call?: CallRef): Promise<Member> {
    const checked = checkedOrder(order);
    const { name } = checked;
    const task = checked.taskId === undefined ? undefined : this.board.get(checked.taskId);
    return this.locks.runAll([nameLock(name), ...(task ? [taskLock(task.id)] : [])], async () => {
      const taken = this.#whyTaken(name);
      if (taken !== undefined) throw new TeamError(taken);
      const record = this.#record(await this.#recruit(checked), by, call);
      const { incarnation } = record;
      const first = task ? [this.board.firstTask(task.id, { name, incarnation }, by)] : [];
      await this.ledger.commit([record, ...first]);
      return this.begin(name);
    });
  }

  async #recruit(order: CheckedOrder): Promise<Recruit> {
    const used = await this.#roles.use(order.role);
    return used === undefined ? order : { ...order, used };
  }

  /**
   * Checks a proposal before anybody is asked.
   * @returns it with its names as the roster will have them
   * @throws {TeamError} with what is wrong
   */
  checkProposal(raw: ProposalPayload): ProposalPayload {
    const members = raw.members.map((member) => {
      const { name, role, prompt } = checkedOrder(orderOf(member));
      return { ...member, name, role, prompt };
    });
    const names = new Set<string>();
    for (const { name } of members) {
      if (names.has(name)) throw new TeamError(`'${name}' is proposed twice.`);
      names.add(name);
      const taken = this.#whyTaken(name);
      if (taken !== undefined) throw new TeamError(taken);
    }
    const read = proposalPayload.safeParse({ ...raw, members });
    if (read.success) return read.data;
    const [issue] = read.error.issues;
    throw new TeamError(`${issue?.path.join('.') || 'proposal'}: ${issue?.message ?? 'invalid'}.`);
  }

  /**
   * Starts all that is accepted of a proposal, and puts its tasks on the board; who begins with which takes effect
   * with it. One whose name is taken by now is left out.
   * The caller holds {@link nameLock} of all whom it names.
   * @param call the tool call where nobody was asked
   * @param commit writes these records together with the decision, all or nothing; what it throws is passed on,
   * and nobody starts
   */
  async startProposed(
    accepted: AcceptedProposal,
    call: CallRef | undefined,
    commit: (start: ProposalStart) => Promise<void>,
  ): Promise<ProposalStart> {
    const orders = accepted.members.map((member) => ({
      task: member.task,
      order: checkedOrder(orderOf(member)),
    }));
    const enlisting = new Enlisting(this.board, this.clock, accepted, call);
    const leftOut: LeftOut[] = [];
    const started: MemberRecord[] = [];
    const records: TeamRecord[] = enlisting.taskRecords();
    for (const { task, order } of orders) {
      const reason = this.#whyTaken(order.name);
      if (reason === undefined) {
        const record = this.#record(await this.#recruit(order), LEAD, call);
        started.push(record);
        records.push(record, ...enlisting.claim(record, task));
      } else leftOut.push({ name: order.name, reason });
    }
    const start = { records, leftOut, tasks: enlisting.made };
    await commit(start);
    for (const { name } of started) this.begin(name);
    return start;
  }

  /** Runs {@link startProposed} where nobody is asked. */
  async startUnasked(
    accepted: AcceptedProposal,
    call: CallRef,
    commit: (start: ProposalStart) => Promise<void>,
  ): Promise<ProposalStart> {
    const locks = accepted.members.map(({ name }) => nameLock(name));
    return this.locks.runAll(locks, () => this.startProposed(accepted, call, commit));
  }

  #whyTaken(name: string): string | undefined {
    const present = this.ledger.state.member(name);
    if (!present || isGone(present)) return undefined;
    return `'${name}' is already in the team (status: ${present.status}). Send a message instead.`;
  }

  #record(order: Recruit, by: string, call?: CallRef): MemberRecord {
    const { name, prompt, used } = order;
    const role = used?.name ?? order.role;
    const model = order.model ?? used?.model;
    const incarnation = this.ledger.state.lastIncarnation(name) + 1;
    const at = this.clock.now();
    return {
      t: 'member',
      name,
      role: shorten(role, 80),
      incarnation,
      prompt,
      spawned_by: by,
      require_plan: order.requirePlan === true || this.settings().permissionMode === 'plan',
      message: {
        id: this.clock.uuid(),
        type: 'message',
        from: by,
        to: name,
        toIncarnation: incarnation,
        content: prompt,
        timestamp: at / 1000,
      },
      call,
      at,
      ...(model === undefined ? {} : { model }),
      ...(used === undefined ? {} : { role_file: used.granted }),
    };
  }
}

type CheckedOrder = SpawnOrder & { name: string };

function orderOf({
  name,
  role,
  prompt,
  require_plan,
  model,
}: Pick<ProposedMember, 'name' | 'role' | 'prompt' | 'require_plan' | 'model'>): SpawnOrder {
  return {
    name,
    role,
    prompt,
    ...(require_plan === undefined ? {} : { requirePlan: require_plan }),
    ...(model === undefined ? {} : { model }),
  };
}

/** @throws {TeamError} */
function checkedOrder(order: SpawnOrder): CheckedOrder {
  const checked = parseMemberName(order.name);
  if (!checked.ok) throw new TeamError(checked.problem);
  const { name } = checked;
  const role = order.role.trim();
  const prompt = order.prompt.trim();
  if (role === '') throw new TeamError(`'${name}' needs a role, such as coder.`);
  if (prompt === '') throw new TeamError(`'${name}' needs a prompt that says what to do.`);
  return { ...order, name, role, prompt };
}

/** What a start of this name holds. */
export function nameLock(name: string): string {
  return `member:${name}`;
}
