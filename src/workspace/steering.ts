import { promises as fs } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';

/**
 * Files that say what programs run or how agents behave: VS Code and its extensions take settings and tasks of a trusted
 * folder at once, and every later member reads instructions and roles. Changing one is as much as running a command.
 */

const FOLDERS = [
  '.vscode',
  '.idea',
  '.devcontainer',
  '.husky',
  '.claude',
  '.handshake',
  '.cursor',
  '.windsurf',
];
const FILES = [
  'AGENTS.md',
  'CLAUDE.md',
  'CLAUDE.local.md',
  'GEMINI.md',
  '.mcp.json',
  '.envrc',
  '.devcontainer.json',
  '.cursorrules',
  '.windsurfrules',
];
const OF_GITHUB = ['copilot-instructions.md', 'instructions', 'prompts', 'chatmodes', 'agents', 'workflows'];
const WORKSPACE_FILE = /\.code-workspace$/;

const folders: ReadonlySet<string> = new Set(FOLDERS);
const files: ReadonlySet<string> = new Set(FILES.map(plainName));
const ofGithub: ReadonlySet<string> = new Set(OF_GITHUB);

/** @param path from the folder that the member works in, with `/` */
export function isSteering(path: string): boolean {
  const names = path.split('/').map(plainName);
  const file = names.at(-1) ?? '';
  return (
    names.slice(0, -1).some((name) => folders.has(name)) ||
    names.some((name, at) => name === '.github' && ofGithub.has(names[at + 1] ?? '')) ||
    files.has(file) ||
    WORKSPACE_FILE.test(file)
  );
}

/**
 * Whether a change of a file changes such a one, by whatever name: as it was named, where that leads, and what the names
 * in the root lead to where they are links.
 * @param root real path of the folder that the member works in
 * @param real the file, absolute and without links
 */
export async function steersTools(root: string, given: string, real: string): Promise<boolean> {
  const [named, led] = [resolve(root, given), real].map((path) => relative(root, path).split(sep).join('/'));
  if (isSteering(named ?? '') || isSteering(led ?? '')) return true;
  const targets = await Promise.all([...FOLDERS, ...FILES].map((name) => linkTarget(join(root, name))));
  return targets.some(
    (target) => target !== undefined && (real === target || real.startsWith(`${target}${sep}`)),
  );
}

/** Where a link leads; undefined for what is none, or leads nowhere. */
async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return (await fs.lstat(path)).isSymbolicLink() ? await fs.realpath(path) : undefined;
  } catch {
    // There is nothing of that name, or nothing that it leads to.
    return undefined;
  }
}

/** As Windows and macOS see a name: case, trailing dots and spaces, and stream names make no difference. */
export function plainName(name: string): string {
  return name
    .normalize('NFKC')
    .toUpperCase()
    .toLowerCase()
    .replace(/:.*$/, '')
    .replace(/[. ]+$/, '');
}
