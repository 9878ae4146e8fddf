import * as vscode from 'vscode';
import * as z from 'zod';
import type { Core } from '../../agent/coreApi';
import { LEAD, type Way } from '../../protocol';
import { isGone } from '../../team/member';
import { askText, pick } from '../ask';
import { Commands, Settings, TreeCommands } from '../contributions';
import { MemberNode } from '../nodes';
import type { Seat } from '../seat';
import { budgetText } from '../usageText';
import { UserError } from '../userError';
import { optionalText, registerCommand, registerRowCommand } from './register';

/** For the whole team; no member can have this name. */
const TEAM = 'team';

const tokenLimit = z.number().int().positive().nullable();

/** Commands about what the team may spend. */
export function registerBudgetCommands(seat: Seat): vscode.Disposable[] {
  const { log, session } = seat;
  return [
    registerCommand(Commands.raiseBudget, log, async (call) => {
      const core = await session.require();
      const who = (call.asks ? undefined : call.get(0, 'name', optionalText)) ?? (await askWho(core));
      const limit = call.asks ? undefined : call.get(1, 'tokens', tokenLimit.optional());
      await raise(core, who, limit, call.asks ? { via: 'ui', prompted: true } : { via: 'command' });
    }),
    registerRowCommand(TreeCommands.raiseBudget, log, async (row) => {
      if (!(row instanceof MemberNode)) {
        throw new UserError(vscode.l10n.t('This command belongs to a row of the Team view.'));
      }
      const core = await session.require();
      await raise(core, isUsedUp(core, TEAM) ? TEAM : row.member, undefined, { via: 'ui' });
    }),
  ];
}

/** @param limit tokens in all, null for no limit, undefined to ask */
async function raise(core: Core, who: string, limit: number | null | undefined, way: Way): Promise<void> {
  const { limit: present } = budgetOf(core, who);
  if (present === undefined) {
    const setting = who === TEAM ? Settings.tokenBudget : Settings.memberTokenBudget;
    throw new UserError(vscode.l10n.t('There is no token budget to raise. It is set by {0}.', setting), [
      {
        label: vscode.l10n.t('Open Settings'),
        run: () => void vscode.commands.executeCommand('workbench.action.openSettings', setting),
      },
    ]);
  }
  const chosen = limit === undefined ? await askLimit(core, who, present) : limit;
  core.refuseFromCode(
    'a token budget is not raised',
    'Raise it at the row of the Team view, or wait until the tool has ended.',
    way,
  );
  await core.allowTokens(chosen, who === TEAM ? undefined : who);
}

async function askWho(core: Core): Promise<string> {
  const members = core.members().filter((member) => !isGone(member));
  const all = [TEAM, LEAD, ...members.map(({ name }) => name)];
  const limited = all.filter((who) => budgetOf(core, who).limit !== undefined);
  const [only, ...others] = limited.filter((who) => isUsedUp(core, who));
  if (only !== undefined && others.length === 0) return only;
  if (limited.length === 0) return TEAM;
  const choices = limited.map((who) => ({
    label: who === TEAM ? vscode.l10n.t('The whole team') : who,
    description: budgetText(budgetOf(core, who)),
    value: who,
  }));
  return pick(choices, vscode.l10n.t('Raise a token budget'), vscode.l10n.t('Whose budget?'));
}

async function askLimit(core: Core, who: string, present: number): Promise<number | null> {
  const { used } = budgetOf(core, who);
  const name = who === TEAM ? vscode.l10n.t('the team') : who;
  const title = vscode.l10n.t('Raise the token budget of {0}', name);
  const more = Math.max(used, present) + present;
  const other = 'other' as const;
  const limit = await pick<number | null | typeof other>(
    [
      {
        label: vscode.l10n.t('As much again: {0} tokens in all', more.toLocaleString()),
        value: more,
      },
      { label: vscode.l10n.t('No limit'), description: vscode.l10n.t('for this team only'), value: null },
      { label: vscode.l10n.t('Another number…'), value: other },
    ],
    title,
    budgetText(budgetOf(core, who)),
  );
  if (limit !== other) return limit;
  const text = await askText(title, vscode.l10n.t('Tokens in all'), String(more), (value) =>
    Number.isSafeInteger(tokensIn(value)) && tokensIn(value) > used
      ? undefined
      : vscode.l10n.t('A whole number above {0} is needed.', used.toLocaleString()),
  );
  return tokensIn(text);
}

/** Also as people write it: `2 000 000`, `2,000,000`, `2M`, `500k`. */
function tokensIn(text: string): number {
  const [, digits = '', unit = ''] = /^([\d\s.,_]+)([kM]?)$/.exec(text.trim()) ?? [];
  const number = digits === '' ? Number.NaN : Number(digits.replace(/[\s,_]/g, ''));
  return number * ({ k: 1000, M: 1_000_000 }[unit] ?? 1);
}

function budgetOf(core: Core, who: string) {
  return core.budget(who === TEAM ? undefined : who);
}

function isUsedUp(core: Core, who: string): boolean {
  const { used, limit } = budgetOf(core, who);
  return limit !== undefined && used >= limit;
}
