import { join, relative, resolve, sep } from 'node:path';
import { leadsOut, type ResolvedPath, realTarget, resolveInside } from './paths';
import { WorkspaceError } from './port';

/** What is out of reach for whoever works in a worktree. */
export interface MainCheckout {
  /** Absolute real path of the workspace folder. */
  root: string;
  /** Absolute real path of the worktree's own checkout, which may be inside that folder. */
  checkout: string;
}

/**
 * Like `resolveInside`, for a folder in a worktree: a path of the main checkout is refused with the one that
 * stands for it.
 * @param root absolute real path of the folder in the worktree
 */
export async function resolveInWorktree(
  root: string,
  given: string,
  action: 'read' | 'write',
  main: MainCheckout,
): Promise<ResolvedPath> {
  try {
    return await resolveInside(root, given, action);
  } catch (error) {
    const right = error instanceof WorkspaceError ? await counterpart(root, given, main) : undefined;
    if (right === undefined) throw error;
    throw new WorkspaceError(
      `Cannot ${action} '${given}': it is in the main checkout, and your task has a worktree of its own. Use '${right}', that is ${join(root, right)}.`,
      { cause: error },
    );
  }
}

/**
 * The path in the worktree that stands for one of the main checkout.
 * @returns relative to `root`; undefined where the path is not of the main checkout
 */
async function counterpart(root: string, given: string, main: MainCheckout): Promise<string | undefined> {
  const named = resolve(root, given);
  // By its name, and by where its links lead.
  for (const path of [named, await realTarget(named).catch(() => named)]) {
    if (isOfMain(path, main)) return relative(main.root, path).split(sep).join('/') || '.';
  }
  return undefined;
}

/** Whether an absolute path is in the main checkout and not in the worktree. */
export function isOfMain(path: string, { root, checkout }: MainCheckout): boolean {
  return !leadsOut(relative(root, path)) && leadsOut(relative(checkout, path));
}
