import * as path from 'node:path';
import * as z from 'zod';
import type { MirrorFiles } from './ports';

const configShape = z.object({ team_name: z.string(), team_id: z.string(), members: z.array(z.unknown()) });

/**
 * Makes way for a `config.json` of ours without losing another: one that is damaged, or that belongs to a team
 * whose journal is not here, is renamed beside.
 * @param teamId the team of the journal, or empty when there is none yet
 * @returns what to tell the user, or undefined when there was nothing to do
 */
export async function setForeignConfigAside(
  files: MirrorFiles,
  dir: string,
  teamId: string,
  now: number,
): Promise<string | undefined> {
  const file = path.join(dir, 'config.json');
  let text: string;
  try {
    text = await files.read(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
  const problem = problemOf(text, teamId);
  if (problem === undefined) return undefined;
  const beside = path.join(dir, `config.json.${problem.mark}-${now}`);
  await files.rename(file, beside);
  const next =
    teamId === ''
      ? 'a roster is written when there is a team'
      : 'the roster is written anew from the journal';
  return `${file} ${problem.text} It is kept as ${path.basename(beside)}; ${next}.`;
}

function problemOf(text: string, teamId: string): { mark: string; text: string } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { mark: 'damaged', text: `is damaged (${error instanceof Error ? error.message : 'not JSON'}).` };
  }
  const parsed = configShape.safeParse(value);
  if (!parsed.success && teamId === '') return undefined;
  if (!parsed.success) return { mark: 'damaged', text: 'is not the roster of a team.' };
  // While there is no team here, another's roster stays where it is.
  if (teamId === '' || parsed.data.team_id === teamId) return undefined;
  return { mark: 'foreign', text: 'belongs to a team whose journal is not on this machine.' };
}
