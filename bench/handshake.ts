/**
 * Full shutdown handshakes without a model: the request is opened and synced and stands in the teammate's
 * mailbox, the teammate approves it, the decision is synced and stands in the lead's mailbox. One alone, and
 * several that are begun at once and wait together. In turns with them: one plain append with `fdatasync` of
 * as many bytes as a request's record has, in the same folder. The mirror in `.team/` is written as always,
 * behind the answers. Arguments: workspace, storage, how often for each number at once.
 */
import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { TeamFolder } from '../src/agent/teamFolder';
import { LEAD } from '../src/protocol';
import { Journal, memoryVault } from '../src/store';
import { Ledger } from '../src/team/ledger';
import type { Clock } from '../src/team/ports';
import { Team } from '../src/team/team';
import { argument, report } from './support/child';
import type { HandshakeReport } from './support/reports';
import { timed } from './support/statistics';

const RECORD_BYTES = 320;
const WARM_UP = 15;
const AT_ONCE = [1, 10, 100];

const clock: Clock = { now: () => Date.now(), uuid: () => randomUUID() };

report(async (): Promise<HandshakeReport> => {
  const [workspace, storage] = [argument(0, 'workspace'), argument(1, 'storage')];
  const rounds = Number(argument(2, 'rounds'));
  await fs.mkdir(storage, { recursive: true });
  const { journal } = await Journal.open(path.join(storage, 'journal'), {
    vault: memoryVault(),
    onDamage: ({ reason }) => {
      throw new Error(reason);
    },
  });
  const fail = (error: unknown): never => {
    throw error;
  };
  const ledger = new Ledger(
    journal,
    () => ({ t: 'team', team_id: clock.uuid(), team_name: 'bench', at: clock.now() }),
    fail,
  );
  const team = new Team(ledger, clock, () => ({
    approvals: { plan: 'either', permission: 'human', team: 'human' },
    permissionMode: 'ask',
    maxTurns: 1,
    requestDeadlineMs: 3_600_000,
    resume: 'ask',
  }));
  team.useRunners(() => ({ wake: () => undefined }));
  let settled: () => void = () => undefined;
  const folder = new TeamFolder(workspace, team, clock, () => settled());
  const folderIdle = async (): Promise<void> => {
    while (!folder.isIdle) await new Promise<void>((resolve) => (settled = resolve));
  };
  await folder.start();

  const raw = await fs.open(path.join(storage, 'raw'), 'w');
  const bytes = Buffer.alloc(RECORD_BYTES, 0x2e);
  let end = 0;
  const appendRaw = async (): Promise<void> => {
    await raw.write(bytes, 0, bytes.length, end);
    await raw.datasync();
    end += bytes.length;
  };

  let spawned = 0;
  const together = async (atOnce: number): Promise<number> => {
    const members: { name: string; incarnation: number }[] = [];
    for (let n = 0; n < atOnce; n++) {
      const name = `member-${++spawned}`;
      const { incarnation } = await team.spawn({ name, role: 'bench', prompt: 'Wait.' }, LEAD);
      members.push({ name, incarnation });
    }
    await folderIdle();
    const ms = await timed(async () => {
      await Promise.all(members.map(({ name, incarnation }) => handshake(team, name, incarnation)));
    });
    await folderIdle();
    // What follows a handshake is not part of it; the mailboxes stay as short as in a living team.
    for (const { name, incarnation } of members) await team.end(name, incarnation, 'shutdown', undefined);
    team.marks.shown(
      LEAD,
      team.unread(LEAD).map((message) => message.id),
    );
    await team.cleanUp();
    await folderIdle();
    return ms;
  };

  for (let round = 0; round < WARM_UP; round++) await together(AT_ONCE[round % AT_ONCE.length] ?? 1);
  const result: HandshakeReport = { runs: AT_ONCE.map((atOnce) => ({ atOnce, ms: [] })), rawAppendMs: [] };
  for (const { atOnce, ms } of result.runs) {
    for (let round = 0; round < rounds / Math.sqrt(atOnce); round++) {
      ms.push(await together(atOnce));
      result.rawAppendMs.push(await timed(appendRaw));
    }
  }
  await raw.close();
  await folder.stop();
  await journal.close();
  return result;
});

async function handshake(team: Team, name: string, incarnation: number): Promise<void> {
  const { requestId } = await team.requestShutdown(LEAD, name);
  const asked = team.unread(name).some((message) => message.request_id === requestId);
  if (!asked) throw new Error(`The request ${requestId} was not delivered to ${name}.`);
  await team.decisions.decide({
    requestId,
    response: 'shutdown_response',
    approve: true,
    by: name,
    incarnation,
    via: 'tool',
  });
  const answered = team.unread(LEAD).some((message) => message.request_id === requestId);
  if (!answered) throw new Error(`The answer to ${requestId} was not delivered to the lead.`);
}
