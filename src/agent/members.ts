import type { CallLimiter } from '../model/limiter';
import type { LanguageModel } from '../model/port';
import { LEAD, permissionPayload } from '../protocol';
import { StorageError } from '../store';
import { callName } from '../team/calls';
import { messageOf } from '../team/ledger';
import { isGone, type Member } from '../team/member';
import type { Clock } from '../team/ports';
import type { CoreSettings } from '../team/settings';
import type { Team } from '../team/team';
import type { ToolTable } from '../tools';
import type { Workspace } from '../workspace/port';
import { type Activity, ActivityShare } from './activity';
import { afterTeammateTurn, LeadAftercare, untilDone } from './afterTurn';
import type { Conversation } from './conversation';
import type { MemberActivity } from './coreApi';
import { endsWithin } from './endsWithin';
import { turnErrorOf } from './errors';
import { AFTER_RESTART, type Hold, type HoldKind } from './hold';
import { ProjectInstructions } from './projectInstructions';
import { leadPrompt, teammatePrompt } from './prompts';
import type { RoleBook } from './roleBook';
import { Runner } from './runner';
import type { RunnerDeps, RunnerProfile } from './runnerDeps';
import type { Ending, Transcripts } from './transcripts';
import { WorkPlaces } from './workPlaces';

/** Closing the window does not wait longer for a loop that does not end; commands get their time to end. */
const SUSPEND_WAIT_MS = 2500;

export interface MembersDeps {
  team: Team;
  clock: Clock;
  settings: () => CoreSettings;
  activity: Activity;
  tools: ToolTable;
  workspace: Workspace;
  transcripts: Transcripts;
  /** Where the workspace folder is in a worktree, absolute. */
  workFolderOf(path: string): Promise<string>;
  roles: RoleBook;
  takeForeign(name: string): Promise<void>;
  languageModel(member: string, model: string | undefined): Promise<LanguageModel>;
  limiter: CallLimiter;
}

/** The running side of the team: the lead's loop and one for every teammate that is there. */
export class Members {
  readonly #runners = new Map<string, Runner>();
  #lead: Runner | undefined;
  /** Whose transcript could not be read when the team was opened; it is taken up with the next turn. */
  readonly #unread = new Set<string>();
  #suspended = false;

  constructor(private readonly deps: MembersDeps) {
    deps.team.useRunners((member, waits) => this.#startTeammate(member, waits));
  }

  get lead(): Runner {
    this.#lead ??= this.#startLead();
    return this.#lead;
  }

  /** After a replay: loops for all that are there. What they had begun waits for the human's word. */
  async start(): Promise<void> {
    const { team, transcripts } = this.deps;
    await transcripts.keepUnknown((name) =>
      name === LEAD ? team.state.conversation : team.state.lastIncarnation(name),
    );
    await this.#tryToTakeUp(this.lead, team.state.conversation);
    // The turn in which the lead held them is over, or takes them anew.
    await team.leases.endOfTurn().catch((error: unknown) => {
      team.ledger.events.fire({ type: 'notice', level: 'error', text: messageOf(error), member: LEAD });
    });
    for (const member of team.state.members()) {
      if (isGone(member)) continue;
      const { name, incarnation } = member;
      const runner = this.#startTeammate(member, true);
      if (!(await this.#tryToTakeUp(runner, incarnation))) {
        team.restoreAssignment(name);
        continue;
      }
      const waits = team.decisions.gateOf(name) === 'pending' || this.#waitsForPermission(name);
      if (waits || runner.cutOff || runner.hasMail) team.restoreAssignment(name);
      else runner.unpark();
      if (waits || runner.hold) team.setStatus(name, 'waiting');
    }
  }

  /** @returns false where the transcript cannot be read: then that member has failed, and nobody else */
  async #tryToTakeUp(runner: Runner, number: number): Promise<boolean> {
    const { team } = this.deps;
    const { name } = runner;
    try {
      const { askedAgain, isUnfinished } = await this.#takeUp(name, number);
      runner.cutOff = isUnfinished || runner.owesAnswer(askedAgain);
      if (runner.cutOff || runner.hasMail) this.#holdBack(runner);
      return true;
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      this.#unread.add(name);
      runner.lastError = turnErrorOf(error);
      team.setStatus(name, 'failed', error.message);
      const text = `${error.message} Until then ${name} stands as failed. Send it a message, or let it go on, once the file is mended.`;
      team.ledger.events.fire({ type: 'notice', level: 'error', text, member: name });
      return false;
    } finally {
      team.attachRunner(name, runner);
    }
  }

  /** Brings a member's mailbox and its permission requests in line with how its transcript ends. */
  async #takeUp(name: string, number: number): Promise<Ending> {
    const { team, transcripts } = this.deps;
    const unread = team.unread(name).map((message) => message.id);
    if (unread.length > 0) {
      const shown = await transcripts.shownAmong(name, number, unread);
      await team.marks.shown(name, shown).catch((error: unknown) => {
        // The mailbox is behind its transcript until the next note; nothing is shown twice for it.
        team.ledger.events.fire({ type: 'notice', level: 'error', text: messageOf(error), member: name });
      });
    }
    const ending = await transcripts.ending(name, number);
    if (ending.askedAgain !== undefined) team.marks.askedAgain(ending.askedAgain);
    await this.#endLeftovers(name, number, ending.openCalls);
    // Those of calls that are still open wait on; any other's call has ended.
    const orphans = team.decisions.registry
      .pending()
      .filter(
        (request) =>
          request.kind === 'tool_permission' &&
          request.from === name &&
          !ending.openCalls.includes(permissionPayload.parse(request.payload).toolUseId),
      );
    await this.#withdraw(
      name,
      orphans.map((request) => request.requestId),
    );
    return ending;
  }

  /** What a killed window's commands left running would go on beside what the member does next. */
  async #endLeftovers(name: string, number: number, openCalls: readonly string[]): Promise<void> {
    const { team, workspace } = this.deps;
    if (openCalls.length === 0 || !workspace.endLeftovers) return;
    const incarnation = name === LEAD ? 0 : number;
    const calls = openCalls.map((id) => callName(team.state.teamId, { member: name, incarnation, id }));
    const ended = await workspace.endLeftovers(calls);
    if (ended.length === 0) return;
    const text = `A command of ${name} was still running, though its window is gone. It was ended: ${ended.join(', ')}.`;
    team.ledger.events.fire({ type: 'notice', level: 'warning', text, member: name });
  }

  /** On a full disk later: until then somebody may answer what nobody waits for, and nothing comes of it. */
  async #withdraw(name: string, requestIds: readonly string[]): Promise<void> {
    const { team } = this.deps;
    const withdraw = () => team.decisions.cancel(requestIds, 'call_ended');
    try {
      await withdraw();
    } catch (error) {
      const text = messageOf(error);
      team.ledger.events.fire({ type: 'notice', level: 'error', text, member: name });
      void untilDone(
        withdraw,
        () => undefined,
        () => this.#suspended,
      );
    }
  }

  /**
   * Ends all loops since the window closes or loses the team; what hangs in a handler is left behind.
   * @throws with what could not be written, once all have ended
   */
  async suspend(): Promise<void> {
    this.#suspended = true;
    const ends = await Promise.allSettled(
      this.all().map(async (runner) => {
        // Its call is marked as begun, and the next window says so.
        if (!(await endsWithin(runner.suspend(), SUSPEND_WAIT_MS))) await runner.abandon(undefined);
      }),
    );
    const failed = ends.flatMap((end) => (end.status === 'rejected' ? [messageOf(end.reason)] : []));
    if (failed.length > 0) throw new Error(failed.join(' '));
  }

  /** Opens a conversation; first what could not be done when the team was opened. */
  async #openConversation(name: string, number: number): Promise<Conversation> {
    if (this.#unread.has(name)) {
      await this.#takeUp(name, number);
      this.#unread.delete(name);
    }
    return this.deps.transcripts.open(name, number);
  }

  /** Where the tokens allowed are used up, "go on" would lead nowhere: the member waits for more of them. */
  #holdBack(runner: Runner): void {
    const text = this.deps.team.budgets.exhausted(runner);
    if (text !== undefined) runner.hold = { kind: 'budget', text };
  }

  /** Lets those go on that waited for more tokens, or for access to a model, and may have them now. */
  recheck(kind: Exclude<HoldKind, 'restart'>): void {
    for (const runner of this.all()) {
      if (runner.hold?.kind !== kind) continue;
      if (kind === 'budget' && this.deps.team.budgets.exhausted(runner) !== undefined) continue;
      runner.resume();
    }
  }

  all(): Runner[] {
    return [this.lead, ...this.#runners.values()];
  }

  runner(name: string): Runner | undefined {
    return name === LEAD ? this.lead : this.#runners.get(name);
  }

  /** Those that have mail or unfinished work from before a restart. */
  resumable(): string[] {
    return this.all().flatMap((runner) => (this.#isResumable(runner) ? [runner.name] : []));
  }

  #isResumable(runner: Runner): boolean {
    const { name } = runner;
    const member = this.deps.team.state.member(name);
    if (!runner.isParked || (member && isGone(member))) return false;
    // One that waits for a permission goes on with the answer.
    const canGoOn =
      runner.hasMail || this.#unread.has(name) || (runner.cutOff && !this.#waitsForPermission(name));
    return canGoOn && runner.hold === undefined && !this.#awaitsWorktree(runner);
  }

  /** What a member that does nothing waits for. One whose turn has failed since waits for nobody's word. */
  #holdOf(runner: Runner): Hold | undefined {
    const member = this.deps.team.state.member(runner.name);
    if (runner.isBusy || (member && isGone(member))) return undefined;
    if (runner.hold) return runner.hold;
    const hasFailed = runner.lastError !== undefined && !this.#unread.has(runner.name);
    return !hasFailed && this.#isResumable(runner) ? AFTER_RESTART : undefined;
  }

  /** It begins with the worktree of its first task, or when somebody speaks to it, and not for a restart. */
  #awaitsWorktree(runner: Runner): boolean {
    const { board, state } = this.deps.team;
    const { name } = runner;
    if (board.book.keptFor(name)?.keptFor?.incarnation !== runner.incarnation) return false;
    const [first, ...more] = runner.unshown();
    return more.length === 0 && first?.content === state.member(name)?.prompt;
  }

  /** Those whose turn ended for want of a key go on. */
  modelChanged(): void {
    for (const runner of this.all()) if (runner.needsKey) runner.resume();
  }

  #waitsForPermission(name: string): boolean {
    const { registry } = this.deps.team.decisions;
    return registry.pending().some(({ kind, from }) => kind === 'tool_permission' && from === name);
  }

  unpark(name: string): void {
    this.runner(name)?.wake('mail');
  }

  activity(name: string): MemberActivity {
    const runner = this.runner(name);
    if (!runner) return {};
    const { doing, isWaiting } = runner;
    const hold = this.#holdOf(runner);
    return {
      ...(doing && { doing }),
      ...(isWaiting && { asksPermission: true }),
      ...(hold && { hold }),
    };
  }

  #startLead(): Runner {
    const { team, workspace, roles } = this.deps;
    const aftercare = new LeadAftercare(
      team,
      () => this.lead.unshown(),
      (event) => team.ledger.events.fire(event),
    );
    const profile: RunnerProfile = {
      name: LEAD,
      incarnation: 0,
      system: async () => leadPrompt(workspace.root, await roles.describe()),
      parked: true,
    };
    return new Runner(
      this.#runnerDeps(LEAD, {
        conversationNumber: () => team.state.conversation,
        openConversation: (number) => this.#openConversation(LEAD, number),
        afterTurn: async (end) => {
          aftercare.after(end);
          await team.leases.endOfTurn();
        },
        leave: async () => undefined,
      }),
      profile,
    );
  }

  #startTeammate(member: Member, parked: boolean): Runner {
    const { team, workspace } = this.deps;
    const { name, incarnation } = member;
    const runner = new Runner(
      this.#runnerDeps(
        name,
        {
          conversationNumber: () => incarnation,
          openConversation: (number) => this.#openConversation(name, number),
          afterTurn: (end) =>
            afterTeammateTurn(team, name, incarnation, end, runner, (event) =>
              team.ledger.events.fire(event),
            ),
          leave: async () => {
            team.setStatus(name, 'stopping');
            await untilDone(
              () =>
                team.end(name, incarnation, 'shutdown', undefined, runner.shownUnread(), runner.progress()),
              (text) => team.ledger.events.fire({ type: 'notice', level: 'error', text, member: name }),
              () => team.isFenced(name, incarnation),
            );
          },
        },
        member.model,
      ),
      {
        name,
        incarnation,
        system: async () => teammatePrompt(member, workspace.root),
        parked,
        ...(member.roleFile?.tools === undefined ? {} : { onlyTools: member.roleFile.tools }),
        ...(member.model === undefined ? {} : { model: member.model }),
      },
    );
    this.#runners.set(name, runner);
    return runner;
  }

  #runnerDeps(
    name: string,
    own: Pick<RunnerDeps, 'conversationNumber' | 'openConversation' | 'afterTurn' | 'leave'>,
    model?: string,
  ): RunnerDeps {
    const { team, clock, settings, activity, tools, workspace, takeForeign, languageModel, limiter } =
      this.deps;
    const workFolderOf = (path: string): Promise<string> => this.deps.workFolderOf(path);
    const openWorkspace = () => new WorkPlaces(workspace, team.worktrees, workFolderOf, name);
    return {
      team,
      clock,
      settings,
      activity: new ActivityShare(activity),
      tools,
      openWorkspace,
      openInstructions: () =>
        new ProjectInstructions(openWorkspace(), (text) =>
          team.ledger.events.fire({ type: 'notice', level: 'warning', text, member: name }),
        ),
      languageModel: () => languageModel(name, model),
      limiter,
      takeForeign: () => takeForeign(name),
      emit: (event) => team.ledger.events.fire(event),
      ...own,
    };
  }
}
