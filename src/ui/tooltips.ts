import * as vscode from 'vscode';
import {
  type HandshakeRequest,
  KINDS,
  permissionPayload,
  planPayload,
  proposalPayload,
  shutdownPayload,
} from '../protocol';
import { revealed } from './hiddenCharacters';
import { unlink } from './plainText';
import { outcomeText, requestText } from './requestText';

const LONGEST = 1500;

/**
 * Tooltips are untrusted markdown: what models wrote goes in as escaped text or in code blocks, so that
 * nothing in it is a link, an image or HTML.
 */
export function requestTooltip(request: HandshakeRequest, overdue: boolean): vscode.MarkdownString {
  const tooltip = new vscode.MarkdownString();
  tooltip.appendText(requestText(request).sentence);
  tooltip.appendMarkdown('\n\n');
  const permission = permissionPayload.safeParse(request.payload);
  const plan = planPayload.safeParse(request.payload);
  const shutdown = shutdownPayload.safeParse(request.payload);
  const proposal = proposalPayload.safeParse(request.payload);
  if (request.kind === 'tool_permission' && permission.success) {
    tooltip.appendCodeblock(shown(permission.data.subject), 'text');
    if (permission.data.folder) appendLine(tooltip, vscode.l10n.t('In {0}', permission.data.folder));
    if (permission.data.description) appendLine(tooltip, permission.data.description);
    if (permission.data.preview) tooltip.appendCodeblock(shown(permission.data.preview), 'diff');
  } else if (request.kind === 'plan_approval' && plan.success) {
    tooltip.appendCodeblock(shown(plan.data.plan), 'text');
  } else if (request.kind === 'shutdown' && shutdown.success && shutdown.data.reason) {
    appendLine(tooltip, vscode.l10n.t('Reason: {0}', shutdown.data.reason));
  } else if (request.kind === 'team_proposal' && proposal.success) {
    for (const member of proposal.data.members) appendLine(tooltip, `${member.name}: ${member.role}`);
  }
  const state = overdue ? vscode.l10n.t('overdue') : outcomeText(request);
  appendLine(tooltip, `${KINDS[request.kind].label} ${request.requestId} · ${state}`);
  if (request.feedback) appendLine(tooltip, vscode.l10n.t('Feedback: {0}', request.feedback));
  return tooltip;
}

/** Adds a paragraph of plain text. */
export function appendLine(tooltip: vscode.MarkdownString, text: string): void {
  tooltip.appendText(unlink(shown(text)));
  tooltip.appendMarkdown('\n\n');
}

/** As much of it as a tooltip holds, with nothing hidden in it. */
function shown(text: string): string {
  return revealed(cut(text));
}

function cut(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}\n…`;
}
