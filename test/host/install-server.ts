import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, symlink, writeFile } from 'node:fs/promises';
import { basename, delimiter, dirname, join } from 'node:path';
import { messageOf } from './errors';
import { describeHost, installFolder, type ServerHost } from './hosts';
import { isAlive, withLock } from './lock';
import { cacheFolder, removeFolder } from './paths';
import { run } from './processes';

/** An installed VS Code server. */
export interface InstalledServer {
  readonly host: ServerHost;
  /** The Node binary that runs it. */
  readonly node: string;
  /** VS Code's own server entry, not the code-server wrapper. */
  readonly main: string;
}

/** The server of a host, installed into the cache folder first when it is not there. */
export async function ensureServer(host: ServerHost): Promise<InstalledServer> {
  if (process.platform === 'win32') {
    throw new Error('The VS Code server host runs on Linux and macOS. On Windows use desktop VS Code.');
  }
  const folder = installFolder(host);
  if (!existsSync(folder)) {
    await mkdir(cacheFolder, { recursive: true });
    await withLock(
      `${folder}.lock`,
      () => console.log(`Another run is installing the ${describeHost(host)}; waiting for it …`),
      async () => {
        if (!existsSync(folder)) await install(host, folder);
      },
    );
  }
  return { host, node: nodeOf(host, folder), main: join(serverFolder(folder), 'out', 'server-main.js') };
}

const serverFolder = (folder: string): string => join(folder, 'node_modules', 'code-server', 'lib', 'vscode');

const nodePackage = `node-${process.platform}-${process.arch}`;

function nodeOf(host: ServerHost, folder: string): string {
  const own = join(folder, 'node_modules', nodePackage, 'bin', 'node');
  if (existsSync(own)) return own;
  if (ownMajor() === host.nodeMajor) return process.execPath;
  throw new Error(
    `${folder} was installed for Node ${host.nodeMajor} without a Node of its own, and this is Node ` +
      `${process.versions.node}. Delete that folder; the next run installs it again.`,
  );
}

const ownMajor = (): number => Number(process.versions.node.split('.')[0]);

async function install(host: ServerHost, folder: string): Promise<void> {
  console.log(`Installing the ${describeHost(host)} into ${folder} (once, about a minute) …`);
  // Built beside its place and renamed when whole: what an interrupted run leaves is never used.
  await removeLeftovers(folder);
  const partial = `${folder}.partial-${process.pid}`;
  await mkdir(partial, { recursive: true });
  await writeFile(join(partial, 'package.json'), '{ "private": true }\n');
  const npm = ['install', '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const packages = [`code-server@${host.codeServer}`];
  if (ownMajor() !== host.nodeMajor) packages.push(`${nodePackage}@${host.nodeMajor}`);
  try {
    console.log(`  1/3 packages ${packages.join(', ')}`);
    await run('npm', [...npm, ...packages], { cwd: partial });
    console.log('  2/3 packages of VS Code itself');
    await run('npm', npm, { cwd: serverFolder(partial) });
    console.log('  3/3 native modules');
    await rebuild(host, partial);
  } catch (error) {
    throw new Error(
      `The ${describeHost(host)} could not be installed.\n${messageOf(error)}\n\n` +
        'It needs the npm registry and, for two native modules, python3, make and g++ ' +
        '(Debian: apt-get install -y python3 make g++).',
    );
  }
  await linkRipgrep(serverFolder(partial));
  await rename(partial, folder);
}

/** Removes what interrupted installs left behind. */
async function removeLeftovers(folder: string): Promise<void> {
  const prefix = `${basename(folder)}.partial-`;
  for (const name of await readdir(dirname(folder))) {
    if (name.startsWith(prefix) && !isAlive(Number(name.slice(prefix.length)))) {
      await removeFolder(join(dirname(folder), name));
    }
  }
}

/** The native modules a server cannot do without, by the names that different versions give them. */
const nativeModules = ['@vscode/spdlog', '@vscode/native-watchdog', 'native-watchdog'];

async function rebuild(host: ServerHost, folder: string): Promise<void> {
  const server = serverFolder(folder);
  const modules = nativeModules.filter((name) => existsSync(join(server, 'node_modules', name)));
  const node = nodeOf(host, folder);
  await run('npm', ['rebuild', ...modules, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: server,
    // Native modules are built for the Node that is first on PATH.
    env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}` },
  });
}

/**
 * Without install scripts older servers come without ripgrep, and VS Code's file search finds nothing.
 * One of the machine's own takes its place.
 */
async function linkRipgrep(server: string): Promise<void> {
  const package_ = join(server, 'node_modules', '@vscode', 'ripgrep');
  const binary = join(package_, 'bin', 'rg');
  if (!existsSync(package_) || existsSync(binary)) return;
  const own = (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'rg'))
    .find((candidate) => existsSync(candidate));
  if (own === undefined) return;
  await mkdir(dirname(binary), { recursive: true });
  await symlink(own, binary);
}
