import { type HandshakeRequest, LEAD } from '../protocol';
import { describeInbox, describeTeam } from '../team/describe';
import { describeTasks } from '../team/describeTasks';
import type { Lease } from '../team/leaseRecords';
import type { Member } from '../team/member';
import type { Clock } from '../team/ports';
import type { Spender } from '../team/spending';
import type { Task } from '../team/task';
import type { Team } from '../team/team';
import { byModel } from '../team/usageBook';
import type { MemberActivity } from './coreApi';
import type { TranscriptRecord } from './transcript';

/** What can be looked at in a team, whoever runs it. */
export abstract class TeamView {
  protected constructor(
    protected readonly clock: Clock,
    /** The name where the records have none yet. */
    private readonly newTeamName: string,
  ) {}

  protected abstract get team(): Team;
  abstract activity(name: string): MemberActivity;
  protected abstract readTranscript(name: string, number: number): Promise<readonly TranscriptRecord[]>;

  get teamName(): string {
    return this.team.state.teamName || this.newTeamName;
  }

  members(): readonly Member[] {
    return this.team.state.members();
  }

  member(name: string): Member | undefined {
    return this.team.state.member(name);
  }

  gateOf(name: string) {
    return this.team.decisions.gateOf(name);
  }

  usage(name?: string) {
    const { usage } = this.team;
    return byModel(name === undefined ? usage.entries() : usage.of(this.spender(name)));
  }

  budget(name?: string) {
    return this.team.budgets.state(name === undefined ? undefined : this.spender(name));
  }

  requests(): readonly HandshakeRequest[] {
    return this.team.decisions.registry.all();
  }

  request(requestId: string): HandshakeRequest | undefined {
    return this.team.decisions.registry.get(requestId);
  }

  isOverdue(request: HandshakeRequest): boolean {
    return request.status === 'pending' && request.deadlineAt <= this.clock.now();
  }

  unread(name: string) {
    return this.team.unread(name);
  }

  leases(): readonly Lease[] {
    return this.team.state.leases.all();
  }

  describeTeam(): string {
    const names = [LEAD, ...this.members().map(({ name }) => name)];
    const waiting = names.filter((name) => this.activity(name).hold?.kind === 'restart');
    return describeTeam(this.team, this.teamName, waiting);
  }

  describeInbox(): string {
    return describeInbox(this.team);
  }

  /** The present start of a member, as tokens are counted. @throws {TeamError} where there is no such member */
  protected spender(raw: string): Spender {
    const target = this.team.resolveMember(raw);
    return target === LEAD ? { name: LEAD, incarnation: 0 } : target;
  }

  tasks(): readonly Task[] {
    return this.team.board.book.all();
  }

  task(id: string): Task | undefined {
    return this.team.board.book.get(id);
  }

  isReady(id: string): boolean {
    return this.team.board.book.isReady(id);
  }

  describeTasks(): string {
    return describeTasks(this.team.board.book);
  }

  async transcript(raw: string): Promise<readonly TranscriptRecord[]> {
    const target = this.team.resolveMember(raw);
    return target === LEAD
      ? this.readTranscript(LEAD, this.team.state.conversation)
      : this.readTranscript(target.name, target.incarnation);
  }
}
