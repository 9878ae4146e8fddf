import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { hasCode } from './errors';

export type UserSettings = Readonly<Record<string, unknown>>;

/** What every window under test starts with: nothing that opens by itself or asks the network. */
export const quietSettings: UserSettings = {
  'workbench.startupEditor': 'none',
  'workbench.enableExperiments': false,
  'workbench.tips.enabled': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': true,
  'extensions.ignoreRecommendations': true,
  'git.openRepositoryInParentFolders': 'never',
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
};

const settingsFile = (userData: string): string => join(userData, 'User', 'settings.json');

/** Where the server host keeps what desktop VS Code keeps in its user data folder. */
export const serverUserData = (dataFolder: string): string => join(dataFolder, 'data');

/** Writes the user's settings on top of the quiet ones. A window that is open takes them over. */
export async function writeUserSettings(userData: string, settings: UserSettings): Promise<void> {
  const file = settingsFile(userData);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify({ ...quietSettings, ...settings }, null, 2));
}

/** The settings written for a window, or the quiet ones where there are none. */
export async function readUserSettings(userData: string): Promise<UserSettings> {
  try {
    return z
      .record(z.string(), z.unknown())
      .parse(JSON.parse(await readFile(settingsFile(userData), 'utf8')));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return quietSettings;
    throw error;
  }
}
