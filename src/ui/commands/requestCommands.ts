import * as vscode from 'vscode';
import { type HandshakeRequest, permissionPayload, type RequestSnapshot, toSnapshot } from '../../protocol';
import { askFeedback, askRequest } from '../ask';
import { Commands, InternalCommands, TreeCommands, Views } from '../contributions';
import { RequestNode } from '../nodes';
import { plainLine, withoutIcons } from '../plainText';
import { ROW_MAX, requestText } from '../requestText';
import type { Seat } from '../seat';
import { Cancelled, UserError } from '../userError';
import {
  type Call,
  noRow,
  optionalText,
  registerCommand,
  registerRowCommand,
  requiredText,
} from './register';

/** Approve, reject and review: from the palette, by id, and from the rows of the trees. */
export function registerRequestCommands(seat: Seat): vscode.Disposable[] {
  const { log, session, panels } = seat;
  return [
    registerCommand(Commands.approve, log, (call) => decide(seat, call, true)),
    registerCommand(Commands.reject, log, (call) => decide(seat, call, false)),
    registerCommand(Commands.review, log, async (call) => {
      const core = await session.requireToRead();
      const requestId = call.asks
        ? await nextOrAsked(seat)
        : known(core.request(call.get(0, 'requestId', requiredText)), call).requestId;
      panels.show(requestId);
    }),
    vscode.commands.registerCommand(InternalCommands.openNext, async () => {
      const next = session
        .core()
        ?.requests()
        .find((request) => request.status === 'pending');
      if (next) panels.show(next.requestId);
      else await vscode.commands.executeCommand(`${Views.team}.focus`);
    }),
    registerRowCommand(TreeCommands.approve, log, async (row) => {
      await seat.decider.decide(requestOf(row), true, undefined, 'ui');
    }),
    registerRowCommand(TreeCommands.reject, log, (row) => rejectRows(seat, [requestOf(row)])),
    registerRowCommand(TreeCommands.review, log, async (row) => panels.show(requestOf(row))),
    registerRowCommand(TreeCommands.approveSelected, log, (_row, rows) => approveRows(seat, rows)),
    registerRowCommand(TreeCommands.rejectSelected, log, (_row, rows) =>
      rejectRows(seat, pendingOf(seat, rows)),
    ),
    registerRowCommand(TreeCommands.copyId, log, async (row) => {
      await vscode.env.clipboard.writeText(requestOf(row));
    }),
  ];
}

async function decide(seat: Seat, call: Call, approve: boolean): Promise<RequestSnapshot> {
  const core = await seat.session.require();
  if (!call.asks) {
    const requestId = call.get(0, 'requestId', requiredText);
    const feedback = call.get(1, 'feedback', optionalText);
    return toSnapshot(await seat.decider.decide(requestId, approve, feedback, 'command'));
  }
  const title = approve ? vscode.l10n.t('Approve a request') : vscode.l10n.t('Reject a request');
  const requestId = await askRequest(
    core,
    title,
    seat.selectedRequest(),
    approve ? approvalDetail : undefined,
  );
  const request = core.request(requestId);
  if (approve && request && !requestText(request).whole) {
    // Nobody approves what no line has shown them.
    seat.panels.show(requestId);
    throw new Cancelled();
  }
  const feedback = approve ? undefined : await askFeedback(sentenceOf(seat, requestId));
  return toSnapshot(await seat.decider.decide(requestId, approve, feedback, 'prompt'));
}

/** What would be approved, in a line of its own: VS Code cuts the first one as it likes. */
function approvalDetail(request: HandshakeRequest): string | undefined {
  if (!requestText(request).whole) return vscode.l10n.t('Longer than a line shows: opens to be read');
  const permission = permissionPayload.safeParse(request.payload);
  return permission.success ? withoutIcons(plainLine(permission.data.subject, ROW_MAX)) : undefined;
}

async function nextOrAsked(seat: Seat): Promise<string> {
  const core = await seat.session.requireToRead();
  const [only, ...others] = core.requests().filter((request) => request.status === 'pending');
  if (only && others.length === 0) return only.requestId;
  return askRequest(core, vscode.l10n.t('Review a request'), seat.selectedRequest());
}

/** Approves what is selected, except what its row does not show whole: that is reviewed one by one. */
async function approveRows(seat: Seat, rows: readonly unknown[]): Promise<void> {
  const core = await seat.session.require();
  const ids = pendingOf(seat, rows);
  const whole = ids.filter((id) => {
    const request = core.request(id);
    return request !== undefined && requestText(request).whole;
  });
  await decideAll(seat, whole, true, undefined);
  const left = ids.length - whole.length;
  if (left > 0) {
    throw new UserError(
      vscode.l10n.t('{0} requests are longer than their row shows. Review them one by one.', left),
    );
  }
}

async function rejectRows(seat: Seat, ids: readonly string[]): Promise<void> {
  const [first] = ids;
  if (first === undefined) return;
  const what = ids.length === 1 ? sentenceOf(seat, first) : vscode.l10n.t('{0} requests', ids.length);
  const feedback = await askFeedback(what);
  await decideAll(seat, ids, false, feedback);
}

/** One that fails does not keep the others from being decided; the first failure is told. */
async function decideAll(
  seat: Seat,
  ids: readonly string[],
  approve: boolean,
  feedback: string | undefined,
): Promise<void> {
  const outcomes = await Promise.allSettled(
    ids.map((id) => seat.decider.decide(id, approve, feedback, 'ui')),
  );
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

function pendingOf(seat: Seat, rows: readonly unknown[]): string[] {
  return rows
    .filter((row) => row instanceof RequestNode)
    .map((row) => row.requestId)
    .filter((id) => seat.session.core()?.request(id)?.status === 'pending');
}

function requestOf(row: unknown): string {
  if (row instanceof RequestNode) return row.requestId;
  throw noRow(row, vscode.l10n.t('This command belongs to a row of the Requests view.'));
}

function sentenceOf(seat: Seat, requestId: string): string {
  const request = seat.session.core()?.request(requestId);
  return request ? requestText(request).sentence : requestId;
}

function known(request: HandshakeRequest | undefined, call: Call): HandshakeRequest {
  if (request) return request;
  const id = call.get(0, 'requestId', requiredText);
  throw new Error(vscode.l10n.t("Unknown request_id '{0}'.", id.slice(0, 40)));
}
