import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import * as z from 'zod';
import { parseMemberName } from '../protocol';
import { type Adoption, adoptionShape } from './lineage';
import { MEMBER_STATUSES, type MemberStatus } from './member';

/** What `.team/config.json` says of a team; what it says is shown, and changes nothing. */
export interface Roster {
  readonly teamName: string;
  readonly teamId: string;
  /** Which journal the team is run from; undefined for the one it began in. */
  readonly adoption?: Adoption;
  readonly members: readonly RosterMember[];
}

export interface RosterMember {
  readonly name: string;
  readonly role: string;
  readonly status: MemberStatus;
  /** At least 1. */
  readonly incarnation: number;
}

const rosterShape = z.object({
  team_name: z.string(),
  team_id: z.string().min(1),
  adoption: adoptionShape.optional().catch(undefined),
  members: z.array(z.unknown()),
});
const member = z.object({
  name: z.string(),
  role: z.string().catch(''),
  status: z.enum(MEMBER_STATUSES).catch('idle'),
  incarnation: z.number().int().positive().catch(1),
});

/** The roster in a folder `.team/`, or undefined when there is none, or none that can be read and understood. */
export async function readRoster(dir: string): Promise<Roster | undefined> {
  let value: unknown;
  try {
    const file = path.join(dir, 'config.json');
    if (!(await fs.stat(file)).isFile()) return undefined;
    value = JSON.parse(await fs.readFile(file, 'utf8'));
  } catch {
    // Whoever opens the folder for writing says what is wrong with the file.
    return undefined;
  }
  const parsed = rosterShape.safeParse(value);
  if (!parsed.success) return undefined;
  const { team_name: teamName, team_id: teamId, adoption, members } = parsed.data;
  const byName = new Map<string, RosterMember>();
  for (const raw of members) {
    const read = member.safeParse(raw);
    const name = read.success ? parseMemberName(read.data.name) : undefined;
    if (read.success && name?.ok && !byName.has(name.name)) {
      byName.set(name.name, { ...read.data, name: name.name });
    }
  }
  const roster = { teamName, teamId, members: [...byName.values()] };
  return adoption === undefined ? roster : { ...roster, adoption };
}
