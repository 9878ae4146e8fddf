import * as vscode from 'vscode';
import { type ApprovalPolicy, describeOutcome, type HandshakeRequest } from '../protocol';
import type { Decider } from './decider';
import { isForHuman, NoticeQueue, type NotificationLevel, type RequestNotice } from './notificationsModel';
import { reportProblem } from './report';
import type { Session } from './session';
import { UserError } from './userError';

/** Milliseconds after which VS Code moves an unanswered notification from the screen to its list. */
const IN_SIGHT = 15_000;
/** Milliseconds that the lead or a teammate has for an answer of its own before the human is told. */
const GRACE = 1500;

export interface NotificationHost {
  level(): NotificationLevel;
  approvals(): ApprovalPolicy;
  review(requestId: string): void;
  showRequests(): void;
}

/** Notifications about requests: fixed templates, at most one in sight; its buttons mean one id. */
export class RequestNotifications implements vscode.Disposable {
  readonly #queue = new NoticeQueue();
  readonly #grace = new Map<string, NodeJS.Timeout>();
  readonly #subscriptions: vscode.Disposable[];
  #sight: vscode.Disposable | undefined;

  constructor(
    private readonly session: Session,
    private readonly decider: Decider,
    private readonly host: NotificationHost,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.#subscriptions = [
      session.onEvent((event) => {
        if (event.type !== 'request') return;
        const { change, request } = event;
        if (change === 'opened') this.#opened(request);
        else if (change === 'overdue') this.#tell(request.requestId, true);
        else this.#over(request.requestId);
      }),
      session.onDidChangeCore(() => this.#restored()),
    ];
  }

  /** Requests that waited already when the team was opened are told like new ones. */
  #restored(): void {
    const core = this.session.core();
    for (const request of core?.requests() ?? []) {
      if (request.status === 'pending') this.#queue.add(request.requestId, core?.isOverdue(request) ?? false);
    }
    this.#next();
  }

  #opened(request: HandshakeRequest): void {
    if (isForHuman(request, this.host.approvals())) {
      this.#tell(request.requestId, false);
      return;
    }
    const timer = setTimeout(() => {
      this.#grace.delete(request.requestId);
      this.#tell(request.requestId, false);
    }, GRACE);
    this.#grace.set(request.requestId, timer);
  }

  #over(requestId: string): void {
    clearTimeout(this.#grace.get(requestId));
    this.#grace.delete(requestId);
    this.#queue.drop(requestId);
  }

  #tell(requestId: string, overdue: boolean): void {
    this.#queue.add(requestId, overdue);
    this.#next();
  }

  #next(): void {
    const pending =
      this.session
        .core()
        ?.requests()
        .filter((request) => request.status === 'pending') ?? [];
    // What the window only shows, its human answers elsewhere.
    if (this.host.level() === 'none' || this.session.readOnly()) {
      for (const request of pending) this.#queue.drop(request.requestId);
      return;
    }
    const notice = this.#queue.take(pending);
    if (notice) void this.#show(notice);
  }

  async #show(notice: RequestNotice): Promise<void> {
    this.#sight = whenOutOfSight(() => this.#gone());
    const sight = this.#sight;
    const approve = vscode.l10n.t('Approve');
    const reject = vscode.l10n.t('Reject');
    const review = vscode.l10n.t('Review');
    const stop = vscode.l10n.t('Force Stop');
    const labels = labelsOf(notice, { approve, reject, review, stop });
    const show = notice.overdue ? vscode.window.showWarningMessage : vscode.window.showInformationMessage;
    try {
      const label = await show(notice.text, ...labels);
      if (notice.kind === 'several') {
        if (label === review) this.host.showRequests();
      } else if (label === review) {
        this.host.review(notice.requestId);
      } else if (label === stop) {
        await this.#forceStop(notice);
      } else if (label !== undefined) {
        await this.decider.decide(notice.requestId, label === approve, undefined, 'prompt');
      }
    } catch (error) {
      reportProblem(error, this.log);
    } finally {
      // An old one that is closed late must not make room for a second beside its successor.
      if (this.#sight === sight) this.#gone();
    }
  }

  /** The click may come late: only the teammate that has still not answered is stopped, and no namesake. */
  async #forceStop({ requestId, canStop }: Extract<RequestNotice, { kind: 'one' }>): Promise<void> {
    const core = await this.session.require();
    const request = core.request(requestId);
    if (canStop === undefined || request?.status !== 'pending') {
      throw new UserError(
        request ? describeOutcome(request) : vscode.l10n.t("Unknown request_id '{0}'.", requestId),
      );
    }
    await core.forceStop(canStop);
  }

  #gone(): void {
    this.#sight?.dispose();
    this.#sight = undefined;
    this.#queue.gone();
    this.#next();
  }

  dispose(): void {
    for (const timer of this.#grace.values()) clearTimeout(timer);
    this.#sight?.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}

function labelsOf(
  notice: RequestNotice,
  { approve, reject, review, stop }: Record<'approve' | 'reject' | 'review' | 'stop', string>,
): string[] {
  if (notice.kind === 'several') return [review];
  if (notice.canStop !== undefined) return [review, stop];
  return notice.canApprove ? [approve, reject, review] : [review, reject];
}

/** Runs `action` when a notification shown now has left the screen: its time counts only while the window has the focus. */
function whenOutOfSight(action: () => void): vscode.Disposable {
  let timer: NodeJS.Timeout | undefined;
  const start = () => {
    timer = setTimeout(action, IN_SIGHT);
  };
  if (vscode.window.state.focused) start();
  const focus = vscode.window.onDidChangeWindowState(({ focused }) => {
    clearTimeout(timer);
    if (focused) start();
  });
  return {
    dispose: () => {
      clearTimeout(timer);
      focus.dispose();
    },
  };
}
