/**
 * Which key goes to which endpoint. The rule: a key is only ever sent to the base URL that came
 * from the same source as the key; sources are never mixed.
 */

import { DEFAULT_BASE_URL, type Env, parseBaseUrl } from './endpoint';
import type { KeyFile } from './keyFiles';

/** The model that is asked where neither the settings nor the key's source name one. */
export const DEFAULT_MODEL = 'claude-sonnet-5-5';

export interface CredentialSources {
  /** What `Handshake: Set API Key` stored, key and base URL as one secret. */
  stored?: { key: string; baseUrl?: string };
  env: Env;
  /** A file of the workspace whose key the user agreed to use in this workspace. */
  workspaceFile?: KeyFile;
  /** The user's own `~/.claude/settings.json`. */
  claudeSettings?: KeyFile;
  /** The setting `handshake.baseUrl`; empty means unset. */
  settingsBaseUrl?: string;
  /** The setting `handshake.model`; empty means unset. */
  settingsModel?: string;
}

export interface Credentials {
  source: 'workspace' | 'stored' | 'environment' | 'claude';
  /** Exactly one of the two is there. */
  apiKey?: string;
  authToken?: string;
  baseUrl: string;
  model: string;
  /** Where the key came from, for messages, such as `ANTHROPIC_API_KEY`. */
  keyName: string;
}

/** No usable key; the message says why and what to do. */
export interface MissingCredentials {
  missing: true;
  /** `none`: no source has a key. `unusable`: there is one, which the user has to mend. */
  reason: 'none' | 'unusable';
  message: string;
}

const SET_KEY = 'Run "Handshake: Set API Key"';

/** Pure: the same sources give the same answer. */
export function resolveCredentials(sources: CredentialSources): Credentials | MissingCredentials {
  const { settingsModel, workspaceFile, claudeSettings } = sources;
  const found =
    fromFile('workspace', workspaceFile, settingsModel) ??
    fromStore(sources) ??
    fromEnvironment('environment', sources.env, settingsModel) ??
    fromFile('claude', claudeSettings, settingsModel);
  if (!found)
    return missing(
      'none',
      `No API key is set. ${SET_KEY}, or set ANTHROPIC_API_KEY in the environment that VS Code starts from, or run the demo ("Handshake: Run Demo"), which needs neither key nor network.`,
    );
  if ('missing' in found) return found;
  const wanted = sources.settingsBaseUrl?.trim();
  // What the user agreed to for this workspace is the file as it stands, with its address.
  if (!wanted || found.source === 'workspace') return found;
  const parsed = parseBaseUrl(wanted);
  if ('problem' in parsed)
    return unusable(`The setting handshake.baseUrl cannot be used: ${parsed.problem}.`);
  if (parsed.url === found.baseUrl) return found;
  const key = found.source === 'stored' ? 'the stored key' : `the key in ${found.keyName}`;
  return unusable(
    `The setting handshake.baseUrl is ${parsed.url}, but ${key} belongs to ${found.baseUrl} and is not sent anywhere else. ${SET_KEY} to set the key for ${parsed.url}, or clear the setting.`,
  );
}

function fromStore({
  stored,
  settingsModel,
}: CredentialSources): Credentials | MissingCredentials | undefined {
  const key = stored?.key.trim();
  if (!key) return undefined;
  const base = parseBaseUrl(stored?.baseUrl || DEFAULT_BASE_URL);
  if ('problem' in base)
    return unusable(`The base URL stored with the key cannot be used: ${base.problem}. ${SET_KEY} again.`);
  const model = settingsModel?.trim() || DEFAULT_MODEL;
  return { source: 'stored', apiKey: key, baseUrl: base.url, model, keyName: 'the stored key' };
}

/** A file counts as a whole: its key goes to its own base URL, or to Anthropic's where it names none. */
function fromFile(
  source: 'workspace' | 'claude',
  file: KeyFile | undefined,
  settingsModel: string | undefined,
): Credentials | MissingCredentials | undefined {
  const found = file && fromEnvironment(source, file.env, settingsModel);
  if (found === undefined || file === undefined) return undefined;
  if ('missing' in found) return { ...found, message: `${found.message} It is in ${file.name}.` };
  return { ...found, keyName: file.name };
}

function fromEnvironment(
  source: 'workspace' | 'environment' | 'claude',
  env: Env,
  settingsModel: string | undefined,
): Credentials | MissingCredentials | undefined {
  const apiKey = env.ANTHROPIC_API_KEY?.trim();
  const authToken = env.ANTHROPIC_AUTH_TOKEN?.trim();
  if (!apiKey && !authToken) return undefined;
  const base = parseBaseUrl(env.ANTHROPIC_BASE_URL?.trim() || DEFAULT_BASE_URL);
  if ('problem' in base) return unusable(`ANTHROPIC_BASE_URL cannot be used: ${base.problem}.`);
  const model = settingsModel?.trim() || env.ANTHROPIC_MODEL?.trim() || env.MODEL_ID?.trim() || DEFAULT_MODEL;
  const rest = { source, baseUrl: base.url, model };
  return apiKey
    ? { ...rest, apiKey, keyName: 'ANTHROPIC_API_KEY' }
    : { ...rest, authToken, keyName: 'ANTHROPIC_AUTH_TOKEN' };
}

function missing(reason: MissingCredentials['reason'], message: string): MissingCredentials {
  return { missing: true, reason, message };
}

function unusable(message: string): MissingCredentials {
  return missing('unusable', message);
}
