import * as vscode from 'vscode';
import * as z from 'zod';
import { HUMAN, LEAD, type RequestSnapshot, toSnapshot } from '../../protocol';
import { askMember, askOptionalText, askTeammateName, askText } from '../ask';
import { askRole } from '../askRole';
import { Commands, TreeCommands } from '../contributions';
import { resumeTeam } from '../modelAccess';
import { MemberNode, RequestNode } from '../nodes';
import type { Seat } from '../seat';
import { noRow, optionalText, registerCommand, registerRowCommand, requiredText } from './register';

const spawnInput = z.object({
  name: z.string(),
  role: requiredText,
  prompt: requiredText,
  requirePlan: z.boolean().optional(),
  model: z.string().optional(),
});

/** Commands that concern members: start, talk, ask, stop. */
export function registerMemberCommands(seat: Seat): vscode.Disposable[] {
  const { log, session } = seat;
  return [
    registerCommand(Commands.spawnTeammate, log, async (call) => {
      const core = await session.require();
      const input = call.asks ? await askTeammate(seat) : call.get(0, 'teammate', spawnInput);
      const { name, role, status } = await core.spawn(input, HUMAN);
      return { name, role, status };
    }),
    registerCommand(Commands.sendMessage, log, async (call) => {
      const core = await session.require();
      const title = vscode.l10n.t('Send a message');
      const name = call.asks ? await askMember(core, title) : call.get(0, 'name', requiredText);
      await sendMessage(seat, name, call.asks ? undefined : call.get(1, 'text', optionalText));
    }),
    registerCommand(Commands.broadcast, log, async (call) => {
      const core = await session.require();
      const text = call.asks
        ? await askText(vscode.l10n.t('Send a message to everybody'), vscode.l10n.t('Message'))
        : call.get(0, 'text', requiredText);
      const reached = await core.broadcast(text);
      if (call.asks) say(vscode.l10n.t('Sent to {0} members', reached));
      return reached;
    }),
    registerCommand(Commands.requestShutdown, log, async (call) => {
      const core = await session.require();
      const title = vscode.l10n.t('Request shutdown');
      const name = call.asks ? await askMember(core, title) : call.get(0, 'name', requiredText);
      return requestShutdown(seat, name);
    }),
    registerCommand(Commands.requestPlan, log, async (call) => {
      const core = await session.require();
      const title = vscode.l10n.t('Ask for a plan');
      const name = call.asks ? await askMember(core, title) : call.get(0, 'name', requiredText);
      await requestPlan(seat, name, call.asks ? await askTopic(name) : call.get(1, 'topic', optionalText));
    }),
    registerCommand(Commands.interrupt, log, async (call) => {
      const core = await session.require();
      const title = vscode.l10n.t('Interrupt');
      const name = call.asks
        ? await askMember(core, title, undefined, true)
        : call.get(0, 'name', requiredText);
      await core.interrupt(name);
    }),
    registerCommand(Commands.forceStop, log, async (call) => {
      const core = await session.require();
      const title = vscode.l10n.t('Force stop');
      const name = call.asks ? await askMember(core, title) : call.get(0, 'name', requiredText);
      await core.forceStop(name);
    }),
    registerCommand(Commands.stopAll, log, async () => (await session.require()).stopAll()),
    registerCommand(Commands.openTranscript, log, async (call) => {
      const core = await session.requireToRead();
      const title = vscode.l10n.t('Open a transcript');
      const name = call.asks
        ? await askMember(core, title, () => true, true)
        : call.get(0, 'name', requiredText);
      await seat.transcripts.open(name);
    }),
    registerCommand(Commands.cleanUpTeam, log, async (call) => {
      await (await session.require()).cleanUpTeam();
      if (call.asks) say(vscode.l10n.t('Teammates that have shut down are gone from the list'));
    }),
    registerCommand(Commands.resumeTeam, log, () => goOn(seat)),
    ...registerRows(seat),
  ];
}

function registerRows(seat: Seat): vscode.Disposable[] {
  const { log, session } = seat;
  const row = (id: string, run: (name: string) => Promise<unknown>) =>
    registerRowCommand(id, log, async (item) => {
      await run(memberOf(item));
    });
  return [
    row(TreeCommands.sendMessage, (name) => sendMessage(seat, name, undefined)),
    row(TreeCommands.requestPlan, async (name) => requestPlan(seat, name, await askTopic(name))),
    row(TreeCommands.requestShutdown, (name) => requestShutdown(seat, name)),
    row(TreeCommands.interrupt, async (name) => (await session.require()).interrupt(name)),
    row(TreeCommands.forceStop, async (name) => (await session.require()).forceStop(name)),
    // Of whichever row: what was left over goes on together.
    row(TreeCommands.goOn, () => goOn(seat)),
    row(TreeCommands.openTranscript, (name) => seat.transcripts.open(name)),
  ];
}

async function askTeammate(seat: Seat): Promise<z.infer<typeof spawnInput>> {
  const core = await seat.session.require();
  const title = vscode.l10n.t('Start a teammate');
  const name = await askTeammateName(core, title);
  const role = await askRole(await core.roles(), title, vscode.l10n.t('Role of {0}', name));
  const prompt = await askText(title, vscode.l10n.t('What should {0} do?', name));
  return { name, role, prompt };
}

function askTopic(name: string): Promise<string> {
  return askOptionalText(
    vscode.l10n.t('Ask {0} for a plan', name),
    vscode.l10n.t('For what? Empty: for the present task.'),
  );
}

async function sendMessage(seat: Seat, name: string, text: string | undefined): Promise<void> {
  const core = await seat.session.require();
  if (name !== LEAD && !core.member(name.toLowerCase())) {
    // The core names the members there are; nobody should write a message to nobody first.
    return core.sendMessage(name, text ?? '');
  }
  const title = vscode.l10n.t('Send a message to {0}', name);
  await core.sendMessage(name, text ?? (await askText(title, vscode.l10n.t('Message'))));
  if (text === undefined) say(vscode.l10n.t('Sent to {0}', name));
}

async function requestShutdown(seat: Seat, name: string): Promise<RequestSnapshot> {
  const core = await seat.session.require();
  return toSnapshot(await core.requestShutdown(name));
}

async function requestPlan(seat: Seat, name: string, topic: string | undefined): Promise<void> {
  const core = await seat.session.require();
  await core.requestPlan(name, topic || undefined);
  say(vscode.l10n.t('Asked {0} for a plan', name));
}

async function goOn({ session, attention }: Seat): Promise<void> {
  await session.require();
  resumeTeam(session, attention);
}

function memberOf(row: unknown): string {
  if (row instanceof MemberNode || row instanceof RequestNode) return row.member;
  throw noRow(row, vscode.l10n.t('This command belongs to a row of the Team view.'));
}

/** A word in the status bar: what was done needs no answer. */
function say(text: string): void {
  vscode.window.setStatusBarMessage(`$(check) ${text}`, 4000);
}
