/**
 * Files that say what programs run or how agents behave: VS Code and its extensions take settings and tasks of a trusted
 * folder at once, and every later member reads instructions and roles. Changing one is as much as running a command.
 */

const FOLDERS: ReadonlySet<string> = new Set([
  '.vscode',
  '.idea',
  '.devcontainer',
  '.husky',
  '.claude',
  '.handshake',
]);
const FILES: ReadonlySet<string> = new Set([
  'agents.md',
  'claude.md',
  'claude.local.md',
  '.mcp.json',
  '.envrc',
  '.devcontainer.json',
]);
const WORKSPACE_FILE = /\.code-workspace$/;

/** @param path from the folder that the member works in, with `/` */
export function steersTools(path: string): boolean {
  const names = path.split('/').map(plainName);
  const file = names.pop() ?? '';
  return names.some((name) => FOLDERS.has(name)) || FILES.has(file) || WORKSPACE_FILE.test(file);
}

/** As Windows and macOS see a name: case, trailing dots and spaces, and stream names make no difference. */
export function plainName(name: string): string {
  return name
    .toLowerCase()
    .replace(/:.*$/, '')
    .replace(/[. ]+$/, '');
}
