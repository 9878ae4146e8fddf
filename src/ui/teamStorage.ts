import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import * as path from 'node:path';

/** What VS Code appends to a workspace's folder for a second extension host that is open on it. */
const SECOND_HOST = /^(.+)-[1-9]\d*$/;

/**
 * Where the team of a workspace is kept. A second extension host on the same workspace gets a folder of its
 * own (the workspace's id with `-1`, `-2`, … appended), since the first one's is locked; the team is one.
 * @param storage what VS Code gives this extension host: `…/<workspace id>/<extension id>`
 */
export function teamStorageDir(storage: string, isThere: (dir: string) => boolean = existsSync): string {
  const workspace = path.dirname(storage);
  const id = SECOND_HOST.exec(path.basename(workspace))?.[1];
  if (id === undefined) return storage;
  const first = path.join(path.dirname(workspace), id);
  return isThere(first) ? path.join(first, path.basename(storage)) : storage;
}

/**
 * Where the team of one folder is kept. A workspace of several folders has one storage for all of them, and which is the
 * first may change: a team never goes on in another folder than its own.
 * @param dir as {@link teamStorageDir} gives it
 * @param root the folder that the team works in
 * @param isWorkspaceFile the window is open on a `.code-workspace` file, saved or not
 */
export function storageOfFolder(dir: string, root: string | undefined, isWorkspaceFile: boolean): string {
  if (!isWorkspaceFile || root === undefined) return dir;
  return path.join(dir, 'folders', createHash('sha256').update(root).digest('hex').slice(0, 16));
}
