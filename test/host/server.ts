import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { describeHost, type ServerHost } from './hosts';
import { ensureServer, type InstalledServer } from './install-server';
import { run, spawnOwned, stopOwned } from './processes';

export interface ServerOptions {
  host: ServerHost;
  /** Where the server keeps everything; use one folder again to test a restart. */
  dataFolder: string;
  /** Default: a free one. Workspace storage hangs on host and port, so a restart needs a fixed one. A range such as `7410-7429` takes the first free. */
  port?: number | string;
  /** What the extension host sees; default: this process's environment. */
  env?: NodeJS.ProcessEnv;
  /** Default true: folders are trusted without asking. */
  trustAll?: boolean;
  /** Default false: the page obeys the payload of its address (extension under development, tests). */
  automation?: boolean;
}

/** VS Code's server, listening on this machine only. */
export class VscodeServer {
  private constructor(
    readonly host: ServerHost,
    readonly port: number,
    private readonly child: ChildProcess,
    /** Resolves when the process has ended, with the last of what it printed. */
    readonly ended: Promise<string>,
  ) {}

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The server's process id; extension hosts are its children. */
  get pid(): number {
    if (this.child.pid === undefined) throw new Error('The server was not started.');
    return this.child.pid;
  }

  /** Installs the server if need be and resolves when it listens. */
  static async start(options: ServerOptions): Promise<VscodeServer> {
    const installed = await ensureServer(options.host);
    const child = spawnOwned(installed.node, serverArguments(installed, options), {
      cwd: options.dataFolder,
      env: options.env ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const ended = new Promise<string>((resolve) => child.once('exit', () => resolve(output.slice(-4_000))));
    const port = await new Promise<number>((resolve, reject) => {
      const read = (chunk: Buffer): void => {
        output = (output + chunk.toString()).slice(-20_000);
        const address = /available at http:\/\/[^:\s]+:(\d+)/.exec(output);
        if (address) resolve(Number(address[1]));
      };
      child.stdout?.on('data', read);
      child.stderr?.on('data', read);
      child.once('error', reject);
      void ended.then((last) =>
        reject(new Error(`The ${describeHost(options.host)} ended before it listened:\n${last}`)),
      );
    });
    return new VscodeServer(options.host, port, child, ended);
  }

  /** Ends the server and its extension hosts. */
  async stop(): Promise<void> {
    await stopOwned(this.child);
  }
}

function serverArguments(installed: InstalledServer, options: ServerOptions): string[] {
  return [
    installed.main,
    ...['--host', '127.0.0.1', '--port', String(options.port ?? 0)],
    '--without-connection-token',
    '--accept-server-license-terms',
    ...dataArguments(options.dataFolder),
    '--disable-telemetry',
    ...((options.trustAll ?? true) ? ['--disable-workspace-trust'] : []),
    ...(options.automation ? ['--enable-smoke-test-driver'] : []),
  ];
}

/** Where a server with this data folder looks for installed extensions. */
export const extensionsFolder = (dataFolder: string): string => join(dataFolder, 'extensions');

const dataArguments = (folder: string): string[] => [
  ...['--server-data-dir', folder],
  ...['--extensions-dir', extensionsFolder(folder)],
];

/** Installs a `.vsix` into the extensions of a server's data folder. */
export async function installExtension(host: ServerHost, dataFolder: string, vsix: string): Promise<void> {
  const installed = await ensureServer(host);
  await run(
    installed.node,
    [
      installed.main,
      ...dataArguments(dataFolder),
      ...['--accept-server-license-terms', '--install-extension', vsix, '--force'],
    ],
    { cwd: dataFolder },
  );
}
