import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { downloadAndUnzipVSCode } from '@vscode/test-electron';
import { messageOf } from './errors';
import { cacheFolder } from './paths';

/** The oldest VS Code the extension supports, as `engines.vscode` says. */
const oldestSupported = [1, 100] as const;

const isWindows = process.platform === 'win32';

/** Whether a window can be shown to someone here. */
export function hasDisplay(environment: NodeJS.ProcessEnv = process.env): boolean {
  if (environment.SSH_CONNECTION && !environment.DISPLAY && !environment.WAYLAND_DISPLAY) return false;
  if (isWindows || process.platform === 'darwin') return true;
  return Boolean(environment.DISPLAY || environment.WAYLAND_DISPLAY);
}

/** The command line of an installed VS Code that is new enough, if there is one. */
export async function findDesktop(): Promise<string | undefined> {
  // Inside a remote window `code` opens files in that window and knows no extension under development.
  if (process.env.VSCODE_IPC_HOOK_CLI) return undefined;
  for (const candidate of candidates()) {
    if (existsSync(candidate) && (await isNewEnough(candidate))) return candidate;
  }
  return undefined;
}

function candidates(): string[] {
  const chosen = process.env.HANDSHAKE_VSCODE;
  if (chosen) return [chosen];
  const names = ['code', 'code-insiders'].map((name) => (isWindows ? `${name}.cmd` : name));
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return [...folders.flatMap((folder) => names.map((name) => join(folder, name))), ...usualPlaces()];
}

function usualPlaces(): string[] {
  const bundle = 'Applications/Visual Studio Code.app/Contents/Resources/app/bin/code';
  if (process.platform === 'darwin') return [join('/', bundle), join(homedir(), bundle)];
  if (!isWindows) return ['/usr/share/code/bin/code', '/snap/bin/code', '/opt/visual-studio-code/bin/code'];
  const programs = [
    ...(process.env.LOCALAPPDATA ? [join(process.env.LOCALAPPDATA, 'Programs')] : []),
    ...(process.env.ProgramFiles ? [process.env.ProgramFiles] : []),
  ];
  return programs.map((folder) => join(folder, 'Microsoft VS Code', 'bin', 'code.cmd'));
}

async function isNewEnough(command: string): Promise<boolean> {
  try {
    const { stdout } = await promisify(execFile)(isWindows ? `"${command}"` : command, ['--version'], {
      shell: isWindows,
      timeout: 15_000,
    });
    const [major = 0, minor = 0] = stdout.split('.').map(Number);
    return major > oldestSupported[0] || (major === oldestSupported[0] && minor >= oldestSupported[1]);
  } catch (error) {
    console.log(`${command} is there but does not say its version; passing it over. ${messageOf(error)}`);
    return false;
  }
}

/** Flags that desktop VS Code needs to start at all for this user. */
export function flagsForThisUser(dataFolder: string): string[] {
  const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
  return isRoot ? ['--no-sandbox', `--user-data-dir=${dataFolder}`] : [];
}

/**
 * The executable of a desktop VS Code of this version, downloaded when it is not in the cache.
 * @throws when there is no network to get it over
 */
export function downloadDesktop(version: string): Promise<string> {
  return downloadAndUnzipVSCode({ version, cachePath: cacheFolder, timeout: 30_000 });
}

/**
 * The executable that the tests in Electron start.
 * @param wanted `stable`, a version, or the path of an executable
 * @throws with what is missing and how to get it
 */
export async function desktopForTests(wanted: string): Promise<string> {
  if (!hasDisplay()) {
    throw new Error(
      'Desktop VS Code needs a display and there is none. On Linux run: xvfb-run -a npm run test:electron ' +
        '(Debian: apt-get install -y xvfb). The same suite runs without a display as npm run test:extension.',
    );
  }
  if (/[\\/]/.test(wanted)) {
    if (existsSync(wanted)) return wanted;
    throw new Error(`There is no VS Code executable at '${wanted}'.`);
  }
  try {
    return await downloadDesktop(wanted);
  } catch (error) {
    throw new Error(
      `Desktop VS Code '${wanted}' could not be downloaded: ${messageOf(error)}\n` +
        'Give an installed one (the executable itself, not the code command): ' +
        'npm run test:electron -- --vscode PATH',
      { cause: error },
    );
  }
}
