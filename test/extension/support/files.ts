// The files of the window's workspace: the sample project and the mirror in `.team/`.
import { exec } from 'node:child_process';
import { cp, readdir, readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import * as z from 'zod';
import { extension, root } from './window';

const config = z.object({
  team_name: z.string(),
  team_id: z.string(),
  members: z.array(
    z.object({ name: z.string(), role: z.string(), status: z.string(), reason: z.string().optional() }),
  ),
});

export type TeamConfig = z.infer<typeof config>;

export const teamFile = (...parts: string[]): string => join(root(), '.team', ...parts);

/** `.team/config.json`; call it when the team is idle, for the mirror follows the team. */
export async function readConfig(): Promise<TeamConfig> {
  return config.parse(JSON.parse(await readFile(teamFile('config.json'), 'utf8')));
}

export async function memberInConfig(name: string): Promise<TeamConfig['members'][number]> {
  const found = (await readConfig()).members.find((member) => member.name === name);
  if (!found) throw new Error(`${name} is not in .team/config.json`);
  return found;
}

const logEntry = z.looseObject({ event: z.string() });
export type LogEntry = z.infer<typeof logEntry>;

/** The lines of `.team/log.jsonl`, oldest first. */
export async function readLog(): Promise<LogEntry[]> {
  const text = await readFile(teamFile('log.jsonl'), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => logEntry.parse(JSON.parse(line)));
}

/** Every file of the workspace but the team's, with its content. */
export async function snapshot(): Promise<Record<string, string>> {
  const entries = await readdir(root(), { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !relative(root(), file).startsWith('.team'))
    .sort();
  const contents = await Promise.all(
    files.map(async (file) => [relative(root(), file), await readFile(file, 'utf8')] as const),
  );
  return Object.fromEntries(contents);
}

/** Puts the sample project back as it was; the team's own folder stays. */
export async function restoreSample(): Promise<void> {
  for (const name of await readdir(root())) {
    if (name !== '.team') await rm(join(root(), name), { recursive: true, force: true });
  }
  await cp(join(extension().extensionPath, 'test', 'sample-workspace'), root(), { recursive: true });
}

/** Runs the sample's own tests, as a person would in a terminal. */
export function npmTest(): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    exec('npm test', { cwd: root() }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, output: stdout + stderr });
    });
  });
}
