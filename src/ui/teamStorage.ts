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
