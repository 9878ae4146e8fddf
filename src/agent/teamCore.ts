import { CallLimiter } from '../model/limiter';
import { type Answer, type HandshakeRequest, HUMAN, LEAD, type Way } from '../protocol';
import { Deadlines } from '../team/deadlines';
import type { Disposable, TeamEvent } from '../team/events';
import { type Ledger, messageOf } from '../team/ledger';
import type { Member } from '../team/member';
import type { Clock } from '../team/ports';
import type { CoreSettings } from '../team/settings';
import type { NewTask, Task, TaskEdit } from '../team/task';
import { Team, TeamError } from '../team/team';
import { TOOLS, ToolTable } from '../tools';
import { GitWorktrees } from '../workspace/git/worktrees';
import { readRoles } from '../workspace/roleFiles';
import { Activity } from './activity';
import type { Core, MemberActivity, SpawnInput } from './coreApi';
import { type CoreOptions, DEFAULT_CONCURRENT_CALLS } from './coreOptions';
import { Dealer } from './dealer';
import { describeDoing } from './doing';
import { forceStop } from './forceStop';
import { AFTER_RESTART, type HoldKind } from './hold';
import { LazyReviews } from './lazyReviews';
import { Members } from './members';
import { PlaceMaker } from './placeMaker';
import { Quiet } from './quiet';
import type { AcceptOptions, ReviewSelection } from './reviewApi';
import { RoleBook } from './roleBook';
import { TeamFolder } from './teamFolder';
import { TeamView } from './teamView';
import type { TranscriptRecord } from './transcript';
import { Transcripts } from './transcripts';

const DEFAULT_IDLE_TIMEOUT_MS = 60_000;

/** The team of one workspace folder, with all its parts; `openCore` makes it. */
export class TeamCore extends TeamView implements Core {
  protected readonly team: Team;
  readonly #folder: TeamFolder;
  readonly #members: Members;
  readonly #transcripts: Transcripts;
  readonly #deadlines: Deadlines;
  readonly #reviews: LazyReviews;
  readonly #roles: RoleBook;
  readonly #quiet: Quiet;
  readonly #activity: Activity;
  #dealer: Dealer | undefined;
  readonly #limiter: CallLimiter;
  readonly #settings: () => CoreSettings;
  /** What was to be told before anybody listened, such as damage found on opening. */
  readonly #early: TeamEvent[] = [];
  #isHeard = false;
  readonly #isAdopted: boolean;

  constructor(
    options: CoreOptions,
    clock: Clock,
    private readonly ledger: Ledger,
    newTeamName: string,
    private readonly closeJournal: () => Promise<void>,
    private readonly log: CoreOptions['log'],
  ) {
    super(clock, newTeamName);
    const git = new GitWorktrees(options.workspace.root);
    const team = new Team(ledger, clock, options.settings, git);
    this.#settings = options.settings;
    this.#isAdopted = options.acceptsForeignKey === true;
    const poke = (): void => this.#quiet.poke();
    this.team = team;
    this.#quiet = new Quiet(() => this.#isIdle());
    this.#activity = new Activity(poke);
    this.#folder = new TeamFolder(
      options.workspace.root,
      team,
      clock,
      poke,
      options.fileSystem,
      () => options.ownership?.isHeld() ?? true,
      () => options.onAdopted?.(),
    );
    this.#transcripts = new Transcripts(
      options.storageDir,
      (text) => this.#notice('warning', text),
      options.fileSystem,
    );
    this.#deadlines = new Deadlines(ledger, clock);
    this.#reviews = new LazyReviews(
      async () => {
        const [{ TaskReviews }, { GitReview }] = await Promise.all([
          import('./taskReviews'),
          import('../workspace/git/review'),
        ]);
        return new TaskReviews({
          team,
          clock,
          settings: () => options.settings().review ?? { merge: 'commit', checkCommand: '' },
          workspace: options.workspace,
          worktrees: git,
          review: new GitReview(options.workspace.root),
          run: (work) => this.#activity.during(work),
          isHeld: () => options.ownership?.isHeld() ?? true,
        });
      },
      () =>
        team.board.book
          .all()
          .some(({ worktree, worktreeDue }) => worktree !== undefined || worktreeDue === true),
    );
    this.#limiter =
      options.limiter ?? new CallLimiter({ maxConcurrentCalls: () => DEFAULT_CONCURRENT_CALLS });
    const tools = new ToolTable(TOOLS, options.foreignTools);
    this.#roles = new RoleBook(
      () => readRoles(options.workspace.root),
      tools.all,
      (level, text) => this.#notice(level, text),
    );
    team.recruiting.useRoles(this.#roles);
    this.#members = new Members({
      team,
      clock,
      settings: options.settings,
      activity: this.#activity,
      tools,
      roles: this.#roles,
      workspace: options.workspace,
      transcripts: this.#transcripts,
      workFolderOf: (path) => git.workFolderOf(path),
      takeForeign: (name) => this.#folder.takeForeign(name),
      languageModel: options.languageModel,
      limiter: this.#limiter,
    });
    ledger.events.on((event) => {
      if (event.type === 'settled' || event.type === 'turn_ended') poke();
      else if (event.type === 'notice' && !this.#isHeard) this.#early.push(event);
    });
  }

  async start(): Promise<void> {
    // Before anybody goes on to work in one.
    for (const text of await this.#reviews.recover()) this.warn(text);
    new PlaceMaker(this.team, (work) => this.#activity.during(work));
    await this.#members.start();
    await this.#openBoard();
    this.#deadlines.schedule();
    await this.#folder.start();
    // What stands in another's journal is for the human to see first.
    if (this.#settings().resume === 'always' && !this.#isAdopted) this.resume();
  }

  /** After a replay: what was under way goes on with its owner, or is free again; what is ready waits for a word. */
  async #openBoard(): Promise<void> {
    const { board, state } = this.team;
    const asksFirst = this.#settings().resume === 'ask' && board.book.hasReady;
    try {
      for (const said of await board.releaseAbsent()) this.warn(said);
    } catch (error) {
      this.warn(messageOf(error));
    }
    for (const { name } of state.members()) {
      const task = board.book.underWay(name);
      if (task) this.#notice('info', `${task.id} is under way with ${name}, who goes on with it.`);
    }
    const poke = (): void => this.#quiet.poke();
    this.#dealer = new Dealer(this.team, (name) => this.#members.runner(name), poke, asksFirst);
  }

  /** Says what was found, or what does not work, in the store. */
  warn(text: string): void {
    this.#notice('warning', text);
  }

  leadStatus(): ReturnType<Core['leadStatus']> {
    const { lead } = this.#members;
    if (lead.isWaiting) return { status: 'waiting' };
    if (lead.isBusy) return { status: 'working' };
    if (lead.hold) return { status: 'waiting', reason: lead.hold.text };
    return lead.lastError ? { status: 'failed', reason: lead.lastError.text } : { status: 'idle' };
  }

  activity(name: string): MemberActivity {
    const activity = this.#members.activity(name);
    const isHeld = activity.hold === undefined && (this.#dealer?.held() ?? []).includes(name);
    return isHeld ? { ...activity, hold: AFTER_RESTART } : activity;
  }

  async allowTokens(limit: number | null, name?: string): Promise<void> {
    await this.team.budgets.allow(limit, name === undefined ? undefined : this.spender(name));
    this.recheck('budget');
  }

  recheck(kind: Exclude<HoldKind, 'restart'>): void {
    this.#members.recheck(kind);
    this.#dealer?.look();
  }

  async decide(answer: Answer): Promise<HandshakeRequest> {
    const decided = await this.team.decisions.decide(answer);
    // The human's answer is word enough for a member that waited since a restart.
    if (answer.by === HUMAN) this.#members.unpark(decided.work.member);
    return decided;
  }

  refuseFromCode(what: string, instead: string, way: Way): void {
    this.team.decisions.refuseFromCode(what, instead, way);
  }

  async sendToLead(text: string): Promise<void> {
    const id = this.clock.uuid();
    this.#limiter.forgive();
    const turn = this.#members.lead.waiters.turnWith(id);
    try {
      await this.team.send(HUMAN, LEAD, text, { id });
    } catch (error) {
      this.#members.lead.waiters.forget(id);
      throw error;
    }
    await turn;
  }

  roles(): ReturnType<Core['roles']> {
    return this.#roles.list();
  }

  spawn(input: SpawnInput, by: string): Promise<Member> {
    return this.team.spawn(input, by);
  }

  async sendMessage(name: string, text: string): Promise<void> {
    this.#limiter.forgive();
    await this.team.send(HUMAN, name, text);
  }

  async broadcast(text: string): Promise<number> {
    const names = await this.team.broadcast(HUMAN, text);
    return names.length;
  }

  requestShutdown(name: string, reason?: string): Promise<HandshakeRequest> {
    return this.team.requestShutdown(HUMAN, name, reason);
  }

  async requestPlan(name: string, topic?: string): Promise<void> {
    await this.team.requestPlan(HUMAN, name, topic);
  }

  async interrupt(raw: string): Promise<void> {
    const target = this.team.resolveMember(raw);
    this.#members.runner(target === LEAD ? LEAD : target.name)?.interrupt();
  }

  async forceStop(raw: string): Promise<void> {
    const member = this.team.resolveAlive(raw);
    this.#activity.enter();
    try {
      const tell = (text: string): void => this.#notice('error', text);
      await forceStop(this.team, member, this.#members.runner(member.name), tell);
    } finally {
      this.#activity.leave();
    }
  }

  async retry(raw: string): Promise<void> {
    const target = this.team.resolveMember(raw);
    this.#members.runner(target === LEAD ? LEAD : target.name)?.resume();
  }

  modelChanged(): void {
    this.#members.modelChanged();
  }

  resumable(): readonly string[] {
    return [...this.#members.resumable(), ...(this.#dealer?.held() ?? [])];
  }

  resume(): void {
    this.#limiter.forgive();
    const names = this.resumable();
    for (const name of this.#members.resumable()) this.#members.runner(name)?.resume();
    this.#dealer?.release();
    // Nobody is shown as waiting while the first step of the work is on its way.
    for (const name of names) this.ledger.events.fire({ type: 'member', name });
  }

  async stopAll(): Promise<void> {
    for (const runner of this.#members.all()) runner.interrupt();
  }

  async newConversation(): Promise<void> {
    const { lead } = this.#members;
    if (lead.isBusy) {
      throw new TeamError('The lead is at work. Stop it first, then start a new conversation.');
    }
    // The lead's loop changes over between two turns.
    await this.team.newConversation();
    if (!lead.cutOff) return;
    // What a closed window cut off is forgotten with the rest; what was not read yet is still to be answered.
    lead.cutOff = false;
    this.ledger.events.fire({ type: 'member', name: LEAD });
  }

  /** An isolated one comes with its worktree. */
  async createTask(task: NewTask): Promise<Task> {
    const { id } = await this.team.board.create(task, HUMAN);
    if (task.isolated === true) await this.createWorktree(id);
    return this.team.board.get(id);
  }

  createWorktree = (id: string, base?: string) => this.#reviews.createWorktree(id, base);
  inspectWorktree = (id: string) => this.#reviews.inspectWorktree(id);
  removeWorktree = (id: string, options?: { force?: boolean }) => this.#reviews.removeWorktree(id, options);
  reviewWork = (id: string) => this.#reviews.reviewWork(id);
  reviewContent = (id: string, blob: string) => this.#reviews.reviewContent(id, blob);
  acceptWork = (id: string, selection: ReviewSelection, options?: AcceptOptions) =>
    this.#reviews.acceptWork(id, selection, options);
  sendBack = (id: string, comments: string) => this.#reviews.sendBack(id, comments);

  updateTask(id: string, edit: TaskEdit): Promise<Task> {
    return this.team.board.edit(id, edit, HUMAN);
  }

  assignTask(id: string, member: string): Promise<Task> {
    return this.team.board.assign(id, member, HUMAN);
  }

  releaseTask(id: string, note?: string): Promise<Task> {
    return this.team.board.release(id, HUMAN, note);
  }

  async completeTask(id: string, result: string): Promise<Task> {
    return (await this.team.board.complete(id, HUMAN, result)).task;
  }

  async cleanUpTeam(): Promise<void> {
    await this.team.cleanUp();
  }

  protected readTranscript(name: string, number: number): Promise<readonly TranscriptRecord[]> {
    return this.#transcripts.read(name, number);
  }

  whenIdle(timeoutMs = DEFAULT_IDLE_TIMEOUT_MS): Promise<void> {
    return this.#quiet.wait(timeoutMs, () => this.#whatRuns());
  }

  on(listener: (event: TeamEvent) => void): Disposable {
    this.#isHeard = true;
    // To each who listens: the log and the Conversation come one after the other. After the caller has its handle.
    for (const event of this.#early) queueMicrotask(() => listener(event));
    return this.ledger.events.on(listener);
  }

  /** Never rejects: what cannot be written (a full disk) is logged, and everything else is ended all the same. */
  async dispose(): Promise<void> {
    this.#deadlines.dispose();
    this.#dealer?.stop();
    for (const end of [
      () => this.#members.suspend(),
      () => this.#reviews.close(),
      () => this.team.usage.flush(),
      () => this.#folder.stop(),
      () => this.closeJournal(),
    ]) {
      try {
        await end();
      } catch (error) {
        this.log('error', `The team was closed, and this was not written: ${messageOf(error)}`);
      }
    }
  }

  #isIdle(): boolean {
    return (
      this.#activity.isQuiet &&
      !this.ledger.isWriting &&
      this.#folder.isIdle &&
      (this.#dealer?.isIdle ?? true) &&
      !this.#members.all().some((runner) => runner.hasWork())
    );
  }

  #whatRuns(): string {
    const busy = this.#members
      .all()
      .filter((runner) => runner.isBusy || runner.hasWork())
      .map((runner) => `${runner.name} (${runner.doing ? describeDoing(runner.doing) : 'has mail'})`);
    if (busy.length > 0) return busy.join(', ');
    return this.ledger.isWriting ? 'the journal is being written' : 'files are being written';
  }

  #notice(level: 'info' | 'warning' | 'error', text: string): void {
    this.ledger.events.fire({ type: 'notice', level, text });
  }
}
