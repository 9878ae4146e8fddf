import * as vscode from 'vscode';
import type { Core } from '../agent/coreApi';
import { type HandshakeRequest, LEAD, parseMemberName } from '../protocol';
import { isGone, type Member } from '../team/member';
import { plainLine, withoutIcons } from './plainText';
import { requestText } from './requestText';
import { leadRow, memberRow } from './teamModel';
import { Cancelled, UserError } from './userError';

/** Questions that commands ask when they are called without arguments. Escape throws {@link Cancelled}. */

export interface Choice<T> extends vscode.QuickPickItem {
  value: T;
}

/**
 * Which pending request; named even if there is only one, so that nobody decides what they did not see.
 * @param first offered first, such as the one selected in the tree
 * @param detailOf what stands below it
 * @throws {UserError} when nothing waits
 */
export async function askRequest(
  core: Core,
  title: string,
  first: string | undefined,
  detailOf: (request: HandshakeRequest) => string | undefined = () => undefined,
): Promise<string> {
  const pending = core.requests().filter((request) => request.status === 'pending');
  if (pending.length === 0) throw new UserError(vscode.l10n.t('Nothing waits for a decision.'));
  const choices = pending.map((request): Choice<string> => {
    const text = requestText(request);
    const detail = detailOf(request);
    const overdue = core.isOverdue(request) ? ` · ${vscode.l10n.t('overdue')}` : '';
    return {
      label: withoutIcons(text.sentence),
      description: `${request.requestId}${overdue}`,
      ...(detail === undefined ? {} : { detail }),
      value: request.requestId,
    };
  });
  const selected = choices.findIndex((choice) => choice.value === first);
  if (selected > 0) choices.unshift(...choices.splice(selected, 1));
  return pick(choices, title, vscode.l10n.t('Which request?'));
}

/**
 * Which member.
 * @param fits leaves out those the command makes no sense for
 * @throws {UserError} when there is none
 */
export async function askMember(
  core: Core,
  title: string,
  fits: (member: Member) => boolean = (member) => !isGone(member),
  withLead = false,
): Promise<string> {
  const choices: Choice<string>[] = [];
  if (withLead) {
    const { description } = leadRow(core.leadStatus(), core.activity(LEAD));
    choices.push({ label: LEAD, description: withoutIcons(description), value: LEAD });
  }
  for (const member of core.members().filter(fits)) {
    const { description } = memberRow(member, core.activity(member.name), core.gateOf(member.name));
    choices.push({ label: member.name, description: withoutIcons(description), value: member.name });
  }
  if (choices.length === 0) throw new UserError(vscode.l10n.t('There is no teammate this could be for.'));
  return pick(choices, title, vscode.l10n.t('Which member?'));
}

/**
 * A line of text that may not be empty.
 * @param problem what is wrong with it, or undefined
 */
export async function askText(
  title: string,
  prompt: string,
  placeHolder?: string,
  problem: (value: string) => string | undefined = () => undefined,
): Promise<string> {
  const text = await vscode.window.showInputBox({
    title,
    prompt,
    ...(placeHolder === undefined ? {} : { placeHolder }),
    ignoreFocusOut: true,
    validateInput: (value) => (value.trim() === '' ? vscode.l10n.t('Type something first.') : problem(value)),
  });
  if (text === undefined) throw new Cancelled();
  return text.trim();
}

/** A line of text that may stay empty. */
export async function askOptionalText(title: string, prompt: string): Promise<string> {
  const text = await vscode.window.showInputBox({ title, prompt, ignoreFocusOut: true });
  if (text === undefined) throw new Cancelled();
  return text.trim();
}

/** What is to change, before a rejection; empty is possible, Escape leaves the request pending. */
export function askFeedback(what: string): Promise<string> {
  return askOptionalText(
    vscode.l10n.t('Reject: {0}', plainLine(what, 80)),
    vscode.l10n.t('What should change? It may stay empty.'),
  );
}

export async function askTeammateName(core: Core, title: string): Promise<string> {
  const taken = new Set(
    core
      .members()
      .filter((member) => !isGone(member))
      .map((member) => member.name),
  );
  const text = await vscode.window.showInputBox({
    title,
    prompt: vscode.l10n.t('Name of the teammate'),
    placeHolder: 'alice',
    ignoreFocusOut: true,
    validateInput: (value) => {
      const check = parseMemberName(value);
      if (!check.ok) return check.problem;
      return taken.has(check.name)
        ? vscode.l10n.t('There is a teammate {0} already.', check.name)
        : undefined;
    },
  });
  if (text === undefined) throw new Cancelled();
  return text;
}

/** One of these. */
export async function pick<T>(choices: readonly Choice<T>[], title: string, placeHolder: string): Promise<T> {
  const choice = await vscode.window.showQuickPick(choices, {
    title,
    placeHolder,
    matchOnDescription: true,
    // When the palette closes, VS Code gives the focus back to the webview that had it, and that may come
    // late: the question would be gone before it was read.
    ignoreFocusOut: true,
  });
  if (!choice) throw new Cancelled();
  return choice.value;
}
