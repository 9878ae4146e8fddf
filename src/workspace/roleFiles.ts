import { constants, promises as fs } from 'node:fs';
import { join } from 'node:path';
import { type Role, type RoleList, type RoleProblem, roleKey } from '../protocol';
import { errorCode, workspaceError } from './failures';
import { resolveInside } from './paths';
import { RoleTextError, readRoleText } from './roleText';

/** Where role files stand, the folder that goes before first. */
export const ROLE_FOLDERS: readonly string[] = ['.handshake/agents', '.claude/agents'];

/** A role is a page or two of text; what is larger is something else. Bytes. */
const LARGEST = 64 * 1024;
const MOST_FILES = 200;
const NO_WAIT = constants.O_NONBLOCK ?? 0;

/**
 * Reads the role files of a workspace. They are not trusted: what is too large, is no regular file, leads out of
 * the workspace or cannot be understood is left out and named.
 * @param root real path of the workspace folder
 */
export async function readRoles(root: string): Promise<RoleList> {
  const roles = new Map<string, Role>();
  const problems: RoleProblem[] = [];
  for (const folder of ROLE_FOLDERS) {
    for (const file of await filesIn(root, folder, problems)) {
      const role = await readRole(root, file, problems);
      if (role === undefined) continue;
      const before = roles.get(roleKey(role.name));
      if (before === undefined) roles.set(roleKey(role.name), role);
      else problems.push({ file, text: `'${role.name}' is taken from ${before.file}`, shadowed: true });
    }
  }
  const byName = (a: Role, b: Role): number => (a.name < b.name ? -1 : 1);
  return { roles: [...roles.values()].sort(byName), problems };
}

/** The Markdown files of a folder by name, from the workspace folder; a missing folder has none. */
async function filesIn(root: string, folder: string, problems: RoleProblem[]): Promise<string[]> {
  let names: string[];
  try {
    const { real } = await resolveInside(root, folder, 'read');
    names = await fs.readdir(real);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') problems.push({ file: folder, text: reasonOf(folder, error) });
    return [];
  }
  const files = names.filter((name) => /\.md$/i.test(name)).sort();
  if (files.length > MOST_FILES) {
    problems.push({
      file: folder,
      text: `it holds ${files.length} files; only the first ${MOST_FILES} are read`,
    });
  }
  return files.slice(0, MOST_FILES).map((name) => `${folder}/${name}`);
}

async function readRole(root: string, file: string, problems: RoleProblem[]): Promise<Role | undefined> {
  try {
    return { ...(await readRoleText(await readSmallFile(root, file))), file };
  } catch (error) {
    // Deleted between the listing and the reading.
    if (errorCode(error) === 'ENOENT') return undefined;
    const line = error instanceof RoleTextError ? error.line : undefined;
    problems.push({ file, text: reasonOf(file, error), ...(line === undefined ? {} : { line }) });
    return undefined;
  }
}

/** @throws for links out of the workspace, whatever is no regular file, large files and bytes that are no text */
async function readSmallFile(root: string, file: string): Promise<string> {
  const { real } = await resolveInside(root, file, 'read');
  // Not waiting keeps a named pipe from hanging the team.
  const handle = await fs.open(real, constants.O_RDONLY | NO_WAIT);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new RoleTextError('it is not a regular file');
    if (stats.size > LARGEST) {
      throw new RoleTextError(`it has ${stats.size} bytes; a role file may have ${LARGEST}`);
    }
    const buffer = Buffer.alloc(LARGEST + 1);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    if (bytesRead > LARGEST) throw new RoleTextError(`it grew past ${LARGEST} bytes while it was read`);
    // Moved elsewhere since it was looked at.
    if ((await fs.realpath(join(root, file))) !== real)
      throw new RoleTextError('it changed while it was read');
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, bytesRead));
  } catch (error) {
    if (error instanceof TypeError) throw new RoleTextError('it is not UTF-8 text');
    throw error;
  } finally {
    await handle.close();
  }
}

function reasonOf(file: string, error: unknown): string {
  return error instanceof RoleTextError ? error.message : workspaceError('read', file, error).message;
}
