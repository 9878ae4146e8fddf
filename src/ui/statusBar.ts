import * as vscode from 'vscode';
import { LEAD } from '../protocol';
import { boardSummary } from './boardModel';
import { Coalescer } from './coalesce';
import { InternalCommands } from './contributions';
import { readOnlyTexts } from './ownershipTexts';
import { requestText } from './requestText';
import type { Session } from './session';
import { pricesSetting } from './settings';
import { readOnlyStatusText, statusBarText } from './statusModel';
import { leadRow, memberRow } from './teamModel';
import { appendLine } from './tooltips';
import { budgetLines, usageLines } from './usageText';

const LISTED_MAX = 12;
const CHANGES: ReadonlySet<string> = new Set([
  'member',
  'request',
  'task',
  'turn_started',
  'turn_ended',
  'usage',
  'budget',
]);

/** The status bar item: how many work, how many requests wait; shown once there is a team to speak of. */
export class StatusBar implements vscode.Disposable {
  readonly #item: vscode.StatusBarItem;
  readonly #refresh = new Coalescer(() => this.#update());
  readonly #subscriptions: vscode.Disposable[];

  constructor(
    private readonly session: Session,
    private readonly isDemo: () => boolean,
    onDidChangeModel: vscode.Event<void>,
  ) {
    this.#item = vscode.window.createStatusBarItem('handshake.status', vscode.StatusBarAlignment.Left, 10);
    this.#item.name = 'Handshake';
    this.#item.command = InternalCommands.openNext;
    this.#subscriptions = [
      session.onDidChangeCore(() => this.#refresh.flush()),
      onDidChangeModel(() => this.#refresh.request()),
      session.onEvent((event) => {
        if (CHANGES.has(event.type)) this.#refresh.request();
      }),
    ];
  }

  #update(): void {
    const core = this.session.core();
    if (!core) {
      this.#item.hide();
      return;
    }
    const lead = core.leadStatus();
    const members = core.members();
    const pending = core.requests().filter((request) => request.status === 'pending');
    const working =
      members.filter((m) => m.status === 'working').length + (lead.status === 'working' ? 1 : 0);
    const held = [LEAD, ...members.map(({ name }) => name)].filter((name) => core.activity(name).hold).length;
    const demo = this.isDemo();
    const late = pending.filter((request) => core.isOverdue(request)).length;
    const { text, spoken, warning } = statusBarText({
      working,
      pending: pending.length,
      overdue: late,
      held,
      demo,
    });

    const reason = core.readOnly;
    const tooltip = new vscode.MarkdownString();
    if (reason) appendLine(tooltip, readOnlyTexts(reason).why);
    for (const request of pending.slice(0, LISTED_MAX)) {
      const overdue = core.isOverdue(request) ? ` (${vscode.l10n.t('overdue')})` : '';
      appendLine(tooltip, `${requestText(request).sentence}${overdue}`);
    }
    if (pending.length > LISTED_MAX) {
      appendLine(tooltip, vscode.l10n.t('… and {0} more', pending.length - LISTED_MAX));
    }
    if (pending.length > 0) tooltip.appendMarkdown('---\n\n');
    appendLine(tooltip, `${LEAD} · ${leadRow(lead, core.activity(LEAD)).description}`);
    for (const member of members.slice(0, LISTED_MAX)) {
      const row = memberRow(member, core.activity(member.name), core.gateOf(member.name));
      appendLine(tooltip, `${row.label} · ${row.description}`);
    }
    if (members.length > LISTED_MAX) {
      appendLine(tooltip, vscode.l10n.t('… and {0} more', members.length - LISTED_MAX));
    }
    const board = boardSummary(core.tasks());
    if (board !== '') appendLine(tooltip, board);
    const usage = core.usage();
    const spent = [...usageLines(usage, pricesSetting()), ...budgetLines(core.budget())];
    if (spent.length > 0) tooltip.appendMarkdown('---\n\n');
    for (const line of spent) appendLine(tooltip, line);
    if (demo) appendLine(tooltip, vscode.l10n.t('The scripted demo answers for the model.'));

    const shown = reason && readOnlyStatusText(pending.length);
    this.#item.command = reason ? InternalCommands.readOnlyMenu : InternalCommands.openNext;
    this.#item.text = shown?.text ?? text;
    this.#item.tooltip = tooltip;
    this.#item.accessibilityInformation = { label: shown?.spoken ?? spoken };
    this.#item.backgroundColor =
      warning && !reason ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    this.#item.show();
  }

  dispose(): void {
    this.#refresh.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#item.dispose();
  }
}
