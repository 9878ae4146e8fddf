import { join } from 'node:path';
import { cacheFolder } from './paths';

/** A VS Code server that the extension is run and tested in. */
export interface ServerHost {
  readonly name: HostName;
  /** The npm package `code-server` of this version carries VS Code's own server. */
  readonly codeServer: string;
  readonly vscode: string;
  /** The major version of Node that this server is made for. */
  readonly nodeMajor: number;
}

export type HostName = 'newest' | 'oldest';

const hosts: Record<HostName, ServerHost> = {
  newest: { name: 'newest', codeServer: '4.139.1', vscode: '1.139.1', nodeMajor: 24 },
  /** The oldest in `engines.vscode`. */
  oldest: { name: 'oldest', codeServer: '4.100.3', vscode: '1.100.3', nodeMajor: 20 },
};

export const hostNames: readonly HostName[] = ['newest', 'oldest'];

/** @throws when `name` is neither `newest` nor `oldest` */
export function serverHost(name: string): ServerHost {
  if (name === 'newest' || name === 'oldest') return hosts[name];
  throw new Error(`Unknown host '${name}'. Use one of: ${hostNames.join(', ')}.`);
}

/** The host that `HANDSHAKE_TEST_HOST` names, else the newest. */
export function serverHostFromEnvironment(): ServerHost {
  return serverHost(process.env.HANDSHAKE_TEST_HOST || 'newest');
}

export function describeHost(host: ServerHost): string {
  return `VS Code server ${host.vscode} (${host.name}), Node ${host.nodeMajor}`;
}

/** Where a host is installed. */
export function installFolder(host: ServerHost): string {
  return join(cacheFolder, `server-${host.codeServer}`);
}
