import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import * as z from 'zod';
import { HUMAN, LEAD, shorten, type TeamMessage } from '../protocol';
import type { Adoption } from './lineage';
import type { Clock } from './ports';
import type { TeamRecord } from './records';
import type { Roster, RosterMember } from './roster';
import type { TeamState } from './state';

/** What the journal of this window takes over of a team that was run elsewhere. */

const INBOX = /^(.+)\.jsonl$/;
const inboxMessage = z.object({
  type: z.literal('message'),
  from: z.string().catch('external'),
  content: z.string().min(1),
});

/**
 * Records that stand for a roster: its name, and its members as somebody else left them.
 * @param keepsStatus false: all have shut down, since their conversations are not here
 */
export function rosterRecords(roster: Roster, clock: Clock, keepsStatus: boolean): TeamRecord[] {
  const at = clock.now();
  const { teamId: team_id, teamName: team_name, adoption } = roster;
  const team: TeamRecord = { t: 'team', team_id, team_name, ...(adoption && { adoption }), at };
  return [team, ...roster.members.flatMap((member) => memberRecords(member, clock, keepsStatus))];
}

/**
 * Records that make a journal that of the roster's team. Members that the journal has already stay as they
 * are; messages that nobody was shown go to the lead, marked as coming from outside.
 */
export async function adoptionRecords(
  dir: string,
  roster: Roster,
  state: TeamState,
  clock: Clock,
  adoption: Adoption,
): Promise<TeamRecord[]> {
  const unknown = roster.members.filter((member) => state.lastIncarnation(member.name) === 0);
  const mail = (await unreadMail(dir, roster, clock, adoption)).filter(
    (message) => !state.knowsMessage(message.id),
  );
  return [
    ...rosterRecords({ ...roster, adoption, members: unknown }, clock, false),
    ...mail.map((message): TeamRecord => ({ t: 'mail', message })),
  ];
}

/**
 * Says in the roster that the team has been adopted, before anything else in the folder changes: who runs it from an
 * older journal becomes read-only.
 * @param write replaces a file, whole or not at all
 */
export async function markAdopted(
  dir: string,
  adoption: Adoption,
  write: (file: string, text: string) => Promise<void>,
): Promise<void> {
  const file = path.join(dir, 'config.json');
  const config = z.looseObject({}).parse(JSON.parse(await fs.readFile(file, 'utf8')));
  await write(file, `${JSON.stringify({ ...config, adoption }, null, 2)}\n`);
}

/** Copies the roster and the inboxes beside, so that what is not taken over is not lost. */
export async function keepBeside(dir: string, now: number): Promise<void> {
  const files = [path.join(dir, 'config.json'), ...(await inboxFiles(dir)).map(({ file }) => file)];
  await Promise.all(files.map((file) => fs.copyFile(file, `${file}.adopted-${now}`)));
}

/** Removes the inboxes that were copied beside; the mirror writes them anew. */
export async function clearInboxes(dir: string): Promise<void> {
  for (const { file } of await inboxFiles(dir)) await fs.rm(file, { force: true });
}

async function unreadMail(
  dir: string,
  roster: Roster,
  clock: Clock,
  { count }: Adoption,
): Promise<TeamMessage[]> {
  const messages: TeamMessage[] = [];
  for (const { name, file } of await inboxFiles(dir)) {
    const lines = (await fs.readFile(file, 'utf8')).split('\n');
    for (const [index, line] of lines.entries()) {
      const read = inboxMessage.safeParse(parsed(line));
      if (!read.success) continue;
      const { from, content } = read.data;
      messages.push({
        // The same for the same line, should the adoption have to be repeated.
        id: `ext-adopted-${roster.teamId}-${count}-${name}-${index}`,
        type: 'message',
        from: shorten(from, 64),
        to: LEAD,
        toIncarnation: 0,
        content: name === LEAD ? content : `For ${name}, who was not shown it: ${content}`,
        timestamp: clock.now() / 1000,
        external: true,
      });
    }
  }
  return messages;
}

async function inboxFiles(dir: string): Promise<{ name: string; file: string }[]> {
  const inbox = path.join(dir, 'inbox');
  let names: string[];
  try {
    names = await fs.readdir(inbox);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
  return names.sort().flatMap((entry) => {
    const name = INBOX.exec(entry)?.[1];
    const isInbox = name !== undefined && !name.endsWith('.damaged');
    return isInbox ? [{ name, file: path.join(inbox, entry) }] : [];
  });
}

function memberRecords(member: RosterMember, clock: Clock, keepsStatus: boolean): TeamRecord[] {
  const { name, role, incarnation } = member;
  const at = clock.now();
  const message: TeamMessage = {
    id: clock.uuid(),
    type: 'message',
    from: HUMAN,
    to: name,
    toIncarnation: incarnation,
    content: 'Taken over from the roster in .team/config.json.',
    timestamp: at / 1000,
  };
  const records: TeamRecord[] = [
    {
      t: 'member',
      name,
      role: shorten(role, 80),
      incarnation,
      prompt: '',
      spawned_by: HUMAN,
      require_plan: false,
      message,
      at,
    },
    { t: 'shown', name, ids: [message.id], at },
  ];
  const isOver = member.status === 'shutdown' || member.status === 'failed';
  if (keepsStatus && !isOver) return records;
  const status = keepsStatus && member.status === 'failed' ? 'failed' : 'shutdown';
  return [...records, { t: 'status', name, incarnation, status, cancels: [], at }];
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // A damaged line is kept in the copy.
    return undefined;
  }
}
