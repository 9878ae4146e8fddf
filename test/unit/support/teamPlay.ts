import * as assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { computeGate, type HandshakeRequest, KINDS, Refusal, roleOf } from '../../../src/protocol';
import { Deadlines } from '../../../src/team/deadlines';
import type { TeamEvent } from '../../../src/team/events';
import { Ledger } from '../../../src/team/ledger';
import { isGone, LEAD_WORK, workOf } from '../../../src/team/member';
import type { TeamRecord } from '../../../src/team/records';
import { TeamState } from '../../../src/team/state';
import { Team } from '../../../src/team/team';
import { TeamError } from '../../../src/team/teamError';
import { tokensOf } from '../../../src/team/usageBook';
import { coreSettings, HeldJournal } from './heldJournal';
import { changeFile, checkLeases } from './playedLeases';
import { checkProposals, partOf, proposalOf } from './playedProposals';
import { checkTaskRecords, checkTasks, taskId, taskStep } from './taskPlay';
import type { TeamStep } from './teamHistory';
import { checkWorktreeRecords, checkWorktrees, FakeGit, settleWorktrees, worktreeStep } from './worktreePlay';

/** What the one role file of these histories gives. */
const REVIEWER = {
  name: 'reviewer',
  granted: { file: '.claude/agents/r.md', instructions: 'Read.', tools: ['read_file'], unknownTools: ['X'] },
  model: 'careful-1',
};

class DiskError extends Error {}

/** Plays one history against the real team core, over a journal that the history holds up, fails and loses. */
export class TeamPlay {
  /** All that was ever written, over all crashes. */
  readonly #log: TeamRecord[] = [];
  readonly #settings = coreSettings({ requestDeadlineMs: 600_000 });
  readonly #ended = new Map<string, string>();
  readonly #overdueTold = new Map<string, number>();
  readonly #taskChanges = new Map<string, number>();
  /** What the ledger or a listener found wrong. */
  readonly #reports: unknown[] = [];
  #now = 1_000_000;
  #ids = 0;
  #calls = 0;
  /** Tokens that have been counted and not been lost with a crash. */
  #used = 0;
  #journal = new HeldJournal();
  #git = new FakeGit();
  #team: Team;
  #deadlines: Deadlines;
  /** Commands under way, and what they are. */
  #running = new Map<Promise<void>, string>();

  constructor() {
    [this.#team, this.#deadlines] = this.#open([]);
  }

  async play(steps: readonly TeamStep[]): Promise<void> {
    for (const step of steps) {
      if (step.op === 'wait') await nextTurn();
      else {
        const command = this.#step(step);
        if (command) this.#run(step.op, command);
      }
      this.#check();
    }
    this.#journal.release();
    // Every command settles: nothing waits for an answer that cannot come.
    for (let turns = 0; this.#running.size > 0; turns++) {
      assert.ok(turns < 1000, `never ended: ${[...this.#running.values()].join()}`);
      await nextTurn();
      this.#journal.release();
    }
    // What a full disk missed of the tokens, the next line has.
    await this.#team.usage.flush();
    assert.equal(tokensIn(this.#team.state), this.#used);
    await settleWorktrees(this.#team, this.#git);
    this.#check();
    this.#checkReplay();
    this.#deadlines.dispose();
  }

  /** What the histories reached, so that a test can say that it tested something. */
  reached(): string[] {
    const changes = [...this.#taskChanges].flatMap(([change, count]) =>
      new Array<string>(count).fill(`task ${change}`),
    );
    return [...this.#ended.values(), ...changes];
  }

  #open(records: readonly TeamRecord[]): [Team, Deadlines] {
    this.#journal = new HeldJournal();
    const clock = {
      now: () => this.#now,
      uuid: () => `${(++this.#ids).toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`,
    };
    const ledger = new Ledger(
      this.#journal,
      () => ({ t: 'team', team_id: 'team-1', team_name: 'workspace', at: this.#now }),
      (error) => void this.#reports.push(error),
    );
    ledger.replay(
      records.map((record) => ({ record })),
      this.#now,
    );
    const team = new Team(ledger, clock, () => this.#settings, this.#git);
    team.useRunners(() => ({ wake: () => undefined }));
    team.recruiting.useRoles({ use: async (name) => (name === 'reviewer' ? REVIEWER : undefined) });
    ledger.events.on((event) => {
      if (team === this.#team) this.#hear(event);
    });
    return [team, new Deadlines(ledger, clock)];
  }

  #hear(event: TeamEvent): void {
    if (event.type === 'task') this.#makeDue(event.id);
    if (event.type === 'task')
      this.#taskChanges.set(event.change, (this.#taskChanges.get(event.change) ?? 0) + 1);
    if (event.type !== 'request') return;
    const { requestId } = event.request;
    if (event.change === 'overdue') {
      this.#overdueTold.set(requestId, (this.#overdueTold.get(requestId) ?? 0) + 1);
      assert.equal(this.#overdueTold.get(requestId), 1, `${requestId} was told to be overdue twice`);
    } else if (event.change !== 'opened') {
      assert.equal(this.#ended.has(requestId), false, `${requestId} ended twice`);
      this.#ended.set(
        requestId,
        `${event.request.kind} ${event.change} ${roleOf(event.request.decidedBy ?? '')}`,
      );
    }
  }

  /** As the running team does, once for each order. */
  #makeDue(id: string): void {
    const team = this.#team;
    const task = team.board.book.get(id);
    if (task?.worktreeDue !== true || task.worktree !== undefined) return;
    this.#run('makeDue', () => team.worktrees.makeDue(id));
  }

  /** Starts a command; how it may fail is all that is expected of it here. */
  #run(op: string, command: () => Promise<unknown>): void {
    const team = this.#team;
    const running = Promise.resolve()
      .then(command)
      .then(
        () => undefined,
        (error: unknown) => {
          const known = error instanceof Refusal || error instanceof TeamError || error instanceof DiskError;
          if (!known && team === this.#team) throw error;
        },
      );
    this.#running.set(running, op);
    void running.then(() => this.#running.delete(running));
  }

  /** @returns the command that the step gives the team; others are done at once */
  #step(step: Exclude<TeamStep, { op: 'wait' }>): (() => Promise<unknown>) | undefined {
    const team = this.#team;
    switch (step.op) {
      case 'spawn': {
        const order = { name: step.name, role: step.role, prompt: 'Go.', requirePlan: step.requirePlan };
        return () => team.spawn(order, step.by);
      }
      case 'send':
        return () => team.send(step.from, step.to, 'Hello.');
      case 'broadcast':
        return () => team.broadcast(step.from, 'All.');
      case 'askShutdown':
        return () => team.requestShutdown(step.by, step.name);
      case 'requestPlan':
        return () => team.requestPlan('lead', step.name);
      case 'submitPlan':
        return () => this.#openRequest('plan_approval', step.name, 'lead', { plan: 'P' });
      case 'askPermission': {
        const toolUseId = `c${++this.#calls}`;
        const payload = { tool: 'bash', toolUseId, subject: 'ls', access: 'command' };
        return () => this.#openRequest('tool_permission', step.from, 'human', payload);
      }
      case 'propose': {
        const payload = proposalOf(step.names, step.tasks);
        return () => this.#openRequest('team_proposal', 'lead', 'human', payload);
      }
      case 'decide':
        return () => this.#decide(step);
      case 'cancel': {
        const request = this.#pick(step.target);
        return request && (() => team.decisions.cancel([request.requestId], 'call_ended'));
      }
      case 'end':
        return () => this.#end(step.name, step.status);
      case 'forceStop': {
        const member = team.state.member(step.name);
        if (member && !isGone(member)) team.fence(member.name, member.incarnation);
        return () => this.#end(step.name, 'shutdown');
      }
      case 'recover':
        return () => team.recovered(step.name);
      case 'show': {
        const ids = team.unread(step.name).slice(0, step.count);
        return () =>
          team.marks.shown(
            step.name,
            ids.map((message) => message.id),
          );
      }
      case 'leadIdle':
        return () => team.leases.endOfTurn();
      case 'idle':
        team.endAssignment(step.name, team.unread(step.name).length > 0);
        return undefined;
      case 'begin': {
        const incarnation = team.state.lastIncarnation(step.name);
        const call = { member: step.name, incarnation, id: `c${++this.#calls}` };
        return () => team.marks.begun(call, 'bash', 1);
      }
      case 'change': {
        const call = `c${++this.#calls}`;
        return () => changeFile(team, step.name, step.file, call);
      }
      case 'askAgain': {
        const request = this.#pick(step.target);
        if (request) team.marks.askedAgain(request.requestId);
        return undefined;
      }
      case 'use': {
        const { name, model, tokens } = step;
        const counts = { input: tokens, output: 1, cacheRead: 2, cacheWrite: 0 };
        team.usage.add({ name, incarnation: team.state.lastIncarnation(name) }, { model, ...counts });
        this.#used += tokens + 3;
        return undefined;
      }
      case 'allow': {
        const { name, limit } = step;
        const spender =
          name === undefined ? undefined : { name, incarnation: team.state.lastIncarnation(name) };
        return () => team.budgets.allow(limit, spender);
      }
      case 'createTask':
      case 'editTask':
      case 'claimTask':
      case 'assignTask':
      case 'dealTask':
      case 'releaseTask':
      case 'completeTask':
      case 'releaseAbsent':
        return () => taskStep(team, step);
      case 'makeWorktree':
      case 'removeWorktree':
      case 'sendBack':
      case 'accept':
      case 'recoverWorktrees': {
        const git = this.#git;
        return () => worktreeStep(team, git, step, () => `a${++this.#calls}`);
      }
      case 'spawnWith': {
        const order = { name: step.name, role: 'coder', prompt: 'Go.', taskId: taskId(team, step.task) };
        return () => team.spawn(order, 'lead');
      }
      case 'cleanUp':
        return () => team.cleanUp();
      case 'newConversation':
        return () => team.newConversation();
      case 'policy':
        Object.assign(this.#settings.approvals, { plan: step.plan, permission: step.permission });
        return undefined;
      case 'time':
        this.#now += step.seconds * 1000;
        this.#deadlines.tellDue();
        return undefined;
      case 'hold':
        this.#journal.held = true;
        return undefined;
      case 'letThrough':
        this.#journal.letThrough();
        return undefined;
      case 'fail':
        this.#journal.fail(new DiskError('ENOSPC'));
        return undefined;
      case 'release':
        this.#journal.release();
        return undefined;
      case 'crash':
        this.#crash(step.snapshot);
        return undefined;
    }
  }

  async #openRequest(
    kind: HandshakeRequest['kind'],
    from: string,
    to: string,
    payload: unknown,
  ): Promise<void> {
    const member = this.#team.state.member(from);
    const work = from === 'lead' ? LEAD_WORK : member && workOf(member);
    if (work) await this.#team.decisions.open({ kind, from, to, payload, work });
  }

  async #end(name: string, status: 'shutdown' | 'failed'): Promise<void> {
    const member = this.#team.state.member(name);
    if (member && !isGone(member)) await this.#team.end(name, member.incarnation, status, undefined);
  }

  /** What a decision says it did has been done, by somebody who may; what it refuses has not. */
  async #decide(step: Extract<TeamStep, { op: 'decide' }>): Promise<void> {
    const { decisions } = this.#team;
    const request = this.#pick(step.target);
    const requestId = request?.requestId ?? 'ffffffff';
    const by = step.by === 'addressee' ? (request?.to ?? 'human') : step.by;
    const incarnation = this.#team.state.lastIncarnation(by);
    try {
      const decided = await decisions.decide({
        requestId,
        approve: step.approve,
        ...(step.edit === 0 ? {} : { accepted: partOf(request, step.edit) }),
        by,
        via: by === 'human' ? step.via : 'tool',
        ...(roleOf(by) === 'teammate' ? { incarnation } : {}),
      });
      assert.equal(decided.decidedBy, by);
      assert.equal(decided.status, step.approve ? 'approved' : 'rejected');
      if (decided.accepted !== undefined) assert.equal(by, 'human');
      if (by === 'human') return;
      const ownAnswer = decided.to === by && decided.kind !== 'plan_approval';
      const leadAnswers =
        by === 'lead' && KINDS[decided.kind].askedBy.includes('teammate') && decided.from !== by;
      assert.ok(ownAnswer || leadAnswers, `${by} decided the ${decided.kind} of ${decided.from}`);
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'already_decided') throw error;
      assert.notEqual(decisions.registry.get(requestId)?.status, 'pending', 'told to be decided, and is not');
    }
  }

  #pick(target: number): HandshakeRequest | undefined {
    const all = this.#team.decisions.registry.all();
    return all.length === 0 ? undefined : all[target % all.length];
  }

  #crash(snapshot: boolean): void {
    this.#deadlines.dispose();
    const state = this.#team.state;
    const before = onDisk(state);
    this.#log.push(...this.#journal.written);
    // Nothing of the dead process is heard of any more, and nothing of it reaches the disk.
    this.#running.clear();
    this.#journal.held = true;
    this.#git = this.#git.survive();
    [this.#team, this.#deadlines] = this.#open(snapshot && state.teamId !== '' ? before : this.#log);
    assert.deepEqual(onDisk(this.#team.state), before);
    this.#used = tokensIn(this.#team.state);
  }

  /** What holds at every moment. */
  #check(): void {
    const [report] = this.#reports;
    if (report !== undefined) throw report;
    const { state, decisions } = this.#team;
    assert.equal(this.#team.budgets.state().used, this.#used, 'tokens were counted wrong');
    const alive = state.members().filter((member) => !isGone(member));
    const isAlive = (name: string, incarnation: number): boolean =>
      name === 'lead' || alive.some((m) => m.name === name && m.incarnation === incarnation);
    const pendingOf = new Map<string, number>();
    for (const request of decisions.registry.pending()) {
      const { kind, work, requestId } = request;
      assert.ok(isAlive(work.member, work.incarnation), `${requestId} waits for nobody`);
      if (kind !== 'shutdown' && kind !== 'plan_approval') continue;
      const key = `${kind} of ${work.member}`;
      pendingOf.set(key, (pendingOf.get(key) ?? 0) + 1);
      assert.equal(pendingOf.get(key), 1, `two pending requests: ${key}`);
      // A plan of work that has moved on has been cancelled with it.
      const member = state.member(work.member);
      if (kind === 'plan_approval') assert.equal(work.workVersion, member?.workVersion);
    }
    checkTasks(this.#team);
    checkWorktrees(this.#team, this.#git);
    checkLeases(this.#team);
    for (const member of state.members()) {
      const narrowed = member.role === 'reviewer' ? REVIEWER.granted : undefined;
      assert.deepEqual(member.roleFile, narrowed);
      if (isGone(member)) assert.deepEqual(state.unread(member.name), [], 'mail waits for nobody');
      const plans = decisions.registry.plansOf(member.name);
      const gate = computeGate(plans, workOf(member), member.planRequired);
      const newest = plans.findLast(
        (plan) => plan.status !== 'cancelled' && plan.work.taskId === member.taskId,
      );
      if (gate === 'approved') assert.equal(newest?.status, 'approved');
      if (gate === 'not_required') assert.equal(member.planRequired, false);
    }
  }

  /** The disk says what the memory says, line by line and as a snapshot. */
  #checkReplay(): void {
    const now = onDisk(this.#team.state);
    const all = [...this.#log, ...this.#journal.written];
    assert.deepEqual(onDisk(stateOf(all)), now);
    assert.deepEqual(onDisk(stateOf(now)), now);
    const decided = all.flatMap((record) => (record.t === 'decided' ? [record.decision.requestId] : []));
    assert.equal(new Set(decided).size, decided.length, 'decided twice on the disk');
    const opened = all.flatMap((record) => (record.t === 'opened' ? [record.request.requestId] : []));
    assert.equal(new Set(opened).size, opened.length, 'an id was used twice');
    checkTaskRecords(all, this.#team.state.tasks.book);
    checkWorktreeRecords(all);
    checkProposals(all, this.#team.decisions.registry.all());
  }
}

function stateOf(records: readonly TeamRecord[]): TeamState {
  const state = new TeamState();
  for (const record of records) state.apply(record);
  return state;
}

function tokensIn(state: TeamState): number {
  return state.spending.book.all().reduce((sum, { usage }) => sum + tokensOf(usage), 0);
}

/** A state as its snapshot stands in the journal. */
function onDisk(state: TeamState): TeamRecord[] {
  return JSON.parse(JSON.stringify(state.snapshot()));
}
