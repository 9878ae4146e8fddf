// `npm start [-- --server] [--host newest|oldest] [--port N] [--folder DIR] [--prepare]`: opens VS Code with
// Handshake loaded on a copy of the sample workspace: the desktop one, else VS Code's server for a browser.
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { downloadDesktop, findDesktop, flagsForThisUser, hasDisplay } from './desktop';
import { messageOf } from './errors';
import { type ServerHost, serverHost } from './hosts';
import { copySample, root } from './paths';
import { run } from './processes';
import { installExtension, VscodeServer } from './server';

/** What this folder holds belongs to the person who starts Handshake here; tests never touch it. */
const ownFolder = join(root, '.vscode-test');

/** Tried in order when no port is asked for. A steady port lets a team be found again after a restart. */
const usualPorts = '7410-7429';

interface Settings {
  server: boolean;
  host: ServerHost;
  port: string;
  /** The folder to open; undefined means the sample. */
  folder: string | undefined;
  /** Only make the sample's copy, as the editor's launch configuration does. */
  prepareOnly: boolean;
}

function readSettings(): Settings {
  const { values } = parseArgs({
    options: {
      server: { type: 'boolean', default: false },
      host: { type: 'string' },
      port: { type: 'string' },
      folder: { type: 'string' },
      prepare: { type: 'boolean', default: false },
    },
  });
  if (values.port !== undefined && !(Number(values.port) >= 1 && Number(values.port) <= 65_535)) {
    throw new Error(`--port ${values.port}: a port is a number from 1 to 65535.`);
  }
  return {
    // A host and a port only mean something to the server.
    server: values.server || values.host !== undefined || values.port !== undefined,
    host: serverHost(values.host ?? 'newest'),
    port: values.port ?? usualPorts,
    folder: values.folder === undefined ? undefined : resolve(values.folder),
    prepareOnly: values.prepare,
  };
}

async function main(): Promise<void> {
  const settings = readSettings();
  const folder = settings.folder ?? (await prepareSample());
  if (!existsSync(folder)) throw new Error(`There is no folder '${folder}'.`);
  if (settings.prepareOnly) return;
  const desktop = settings.server ? undefined : await desktopHere();
  if (desktop !== undefined) await openDesktop(desktop, folder);
  else await serve(settings, folder);
}

/** The person's own copy of the sample workspace, under git where there is git; kept from start to start. */
async function prepareSample(): Promise<string> {
  const folder = join(ownFolder, 'sample');
  if (existsSync(folder)) return folder;
  await mkdir(ownFolder, { recursive: true });
  await copySample(folder);
  try {
    const identity = ['-c', 'user.name=Handshake', '-c', 'user.email=handshake@example.invalid'];
    await run('git', ['init', '--quiet'], { cwd: folder });
    await run('git', ['add', '--all'], { cwd: folder });
    await run('git', [...identity, 'commit', '--quiet', '--message', 'The sample workspace'], {
      cwd: folder,
    });
  } catch (error) {
    console.log(`The sample workspace is not under git: ${messageOf(error)}`);
  }
  return folder;
}

/** The desktop VS Code to use: an installed one, else a downloaded one, else none. */
async function desktopHere(): Promise<string | undefined> {
  if (!hasDisplay()) return undefined;
  const installed = await findDesktop();
  if (installed !== undefined || process.env.VSCODE_IPC_HOOK_CLI) return installed;
  try {
    return await downloadDesktop('stable');
  } catch (error) {
    console.log(`Desktop VS Code is not installed and could not be downloaded (${messageOf(error)}).`);
    return undefined;
  }
}

async function openDesktop(command: string, folder: string): Promise<void> {
  await buildExtension();
  console.log(`Opening ${folder} in ${command}`);
  const flags = flagsForThisUser(join(ownFolder, 'desktop'));
  await run(command, [...flags, '--new-window', `--extensionDevelopmentPath=${root}`, folder], {
    cwd: root,
    show: true,
  });
}

function buildExtension(): Promise<string> {
  return run(process.execPath, ['esbuild.mjs', '--only=product'], { cwd: root, show: true });
}

async function serve(settings: Settings, folder: string): Promise<void> {
  const dataFolder = join(ownFolder, `data-${settings.host.name}`);
  await mkdir(dataFolder, { recursive: true });
  const vsix = await packageExtension();
  await installExtension(settings.host, dataFolder, vsix);
  const server = await VscodeServer.start({
    host: settings.host,
    dataFolder,
    port: settings.port,
    // The sample is this project's own; another folder is trusted or not by the person.
    trustAll: settings.folder === undefined,
  });
  const url = `${server.origin}/?folder=${encodeURI(folder)}`;
  console.log(`
VS Code ${settings.host.vscode} with Handshake is ready.

  Open ${url}

It listens on this machine only. From another one: ssh -L ${server.port}:127.0.0.1:${server.port} HOST
A key entered here is kept until the page is reloaded: this server stores no secrets.
Ctrl-C ends it.
`);
  const last = await server.ended;
  throw new Error(`The server ended by itself:\n${last}`);
}

/** Builds the `.vsix` that a person would install. */
async function packageExtension(): Promise<string> {
  const file = join(ownFolder, 'handshake.vsix');
  console.log('Packaging the extension …');
  const vsce = join(root, 'node_modules', '@vscode', 'vsce', 'vsce');
  const args = [
    'package',
    '--no-dependencies',
    '--allow-missing-repository',
    '--no-rewrite-relative-links',
    '--out',
    file,
  ];
  await run(process.execPath, [vsce, ...args], { cwd: root });
  return file;
}

main().catch((error: unknown) => {
  console.error(messageOf(error));
  process.exit(1);
});
