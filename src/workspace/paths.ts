import { promises as fs } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { errorCode, workspaceError } from './failures';
import { WorkspaceError } from './port';
import { plainName } from './steering';

/** More links than this in one path are a circle. */
const MAX_LINKS = 40;

/** What a member named, and where it really is. */
export interface ResolvedPath {
  /** As the member named it; for messages. */
  given: string;
  /** Absolute, without links; the file itself and folders above it need not exist. */
  real: string;
  /** From the workspace root, with `/`; for messages and diffs. */
  relative: string;
}

/**
 * Finds where a path really leads and makes sure that it is inside the workspace.
 * @param root real path of the workspace folder
 * @param action what it is for: `.git/` and `.team/` may be read but not written
 * @throws {WorkspaceError} for an empty or impossible path, one that leads out, and protected ones
 */
export async function resolveInside(
  root: string,
  given: string,
  action: 'read' | 'write',
): Promise<ResolvedPath> {
  if (given.trim() === '') throw new WorkspaceError('The path is empty. Name a file of the workspace.');
  if (given.includes('\0'))
    throw new WorkspaceError('The path holds a NUL character. Name a file of the workspace.');
  let real: string;
  try {
    real = await realTarget(resolve(root, given));
  } catch (error) {
    throw workspaceError(action, given, error);
  }
  const inside = relative(root, real);
  if (leadsOut(inside)) {
    const target = real === resolve(root, given) ? '' : ` (it leads to ${real})`;
    throw new WorkspaceError(
      `Cannot ${action} '${given}': it is outside the workspace${target}. Use a path inside ${root}.`,
    );
  }
  if (action === 'write') refuseProtected(given, inside.split(sep));
  return { given, real, relative: inside.split(sep).join('/') };
}

/** Whether a relative path leaves the folder that it is relative to. */
export function leadsOut(path: string): boolean {
  return path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path);
}

/** Follows every link, also one whose target does not exist yet, and keeps what does not exist as named. */
export async function realTarget(path: string, links = 0): Promise<string> {
  if (links > MAX_LINKS) throw Object.assign(new Error('too many links'), { code: 'ELOOP' });
  try {
    return await fs.realpath(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  const parent = dirname(path);
  if (parent === path) return path;
  const place = join(await realTarget(parent, links), basename(path));
  try {
    return await realTarget(resolve(dirname(place), await fs.readlink(place)), links + 1);
  } catch (error) {
    // ENOENT: nothing of that name; EINVAL: no link, made since. The place itself is then the target.
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'EINVAL') return place;
    throw error;
  }
}

function refuseProtected(given: string, parts: readonly string[]): void {
  const names = parts.map(plainName);
  if (names.includes('.git')) {
    throw new WorkspaceError(`Cannot write '${given}': what is in .git belongs to git. Use git commands.`);
  }
  if (names[0] === '.team') {
    throw new WorkspaceError(
      `Cannot write '${given}': .team shows the state of the team and is not a way to change it. Use the team's tools.`,
    );
  }
}
