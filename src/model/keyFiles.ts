/** Files that hold a key for one endpoint: the `env` block of a Claude settings file, and `.env`. */

import { readFile, stat } from 'node:fs/promises';
import * as z from 'zod';
import type { Env } from './endpoint';

/** A file with a key in it. */
export interface KeyFile {
  /** How the file is named to the user, such as `~/.claude/settings.json`. */
  name: string;
  env: Env;
}

/** Larger files are none of these. */
const MAX_BYTES = 1024 * 1024;

const NAMES = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'ANTHROPIC_BASE_URL',
  'ANTHROPIC_MODEL',
  'MODEL_ID',
] as const;

const settings = z.object({ env: z.record(z.string(), z.unknown()) });

/**
 * The `env` block of a Claude settings file.
 * @returns undefined where there is no such file, or no key in it
 * @throws {Error} with a sentence for the log, which holds nothing of the file's content
 */
export async function readClaudeSettings(file: string, name: string): Promise<KeyFile | undefined> {
  const text = await readSmall(file, name);
  if (text === undefined) return undefined;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // Not its message: it could quote a piece of the key.
    throw new Error(`${name} is not JSON; no key is taken from it.`);
  }
  const parsed = settings.safeParse(json);
  return parsed.success ? keyFile(name, parsed.data.env) : undefined;
}

/** The same for a file of `NAME=value` lines. */
export async function readDotEnv(file: string, name: string): Promise<KeyFile | undefined> {
  const text = await readSmall(file, name);
  return text === undefined ? undefined : keyFile(name, parseDotEnv(text));
}

/** Later lines go before earlier ones; what is no assignment is skipped. */
export function parseDotEnv(text: string): Record<string, string> {
  const values: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const [, name, raw = ''] = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/.exec(line) ?? [];
    if (name !== undefined) values[name] = unquoted(raw);
  }
  return values;
}

function unquoted(raw: string): string {
  const [, , quoted] = /^(["'])(.*?)\1\s*(?:#.*)?$/.exec(raw) ?? [];
  return quoted ?? raw.replace(/(^|\s)#.*$/, '').trim();
}

function keyFile(name: string, values: Readonly<Record<string, unknown>>): KeyFile | undefined {
  const env: Record<string, string> = {};
  for (const each of NAMES) {
    const value = values[each];
    if (typeof value === 'string' && value.trim() !== '') env[each] = value.trim();
  }
  return env.ANTHROPIC_API_KEY || env.ANTHROPIC_AUTH_TOKEN ? { name, env } : undefined;
}

async function readSmall(file: string, name: string): Promise<string | undefined> {
  try {
    const stats = await stat(file);
    if (!stats.isFile() || stats.size > MAX_BYTES) return undefined;
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Error(`${name} could not be read (${String(code ?? 'unknown error')}).`);
  }
}
