import { lstat, readFile, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { errorCode } from '../failures';

export interface WorktreePlace {
  /** Absolute path of the checkout. */
  folder: string;
  /** The same, as a person is told of it. */
  shown: string;
  branch: string;
  /** Absolute path of the repository's common git folder. */
  common: string;
}

/** Why a worktree cannot be worked in, in words, or undefined. */
export async function worktreeProblem(place: WorktreePlace): Promise<string | undefined> {
  const { shown, branch, common } = place;
  const checkout = await checkoutOf(place);
  if ('problem' in checkout) return checkout.problem;
  const { own } = checkout;
  const wanted = `refs/heads/${branch}`;
  const head = (await textOf(join(own, 'HEAD')))?.trim() ?? '';
  if (head !== `ref: ${wanted}` && (await rebased(own)) !== wanted) {
    const other = /^ref: refs\/heads\/(.+)$/.exec(head)?.[1] ?? 'no branch';
    return `${other} is checked out in ${shown} instead of ${branch}`;
  }
  return (await hasRef(common, wanted)) ? undefined : `its branch ${branch} was deleted`;
}

/** Whether git reads this checkout there, and no other one, whatever is checked out in it. */
export async function isCheckout(place: Omit<WorktreePlace, 'branch'>): Promise<boolean> {
  return !('problem' in (await checkoutOf(place)));
}

/** The administration of a worktree's checkout, as an absolute path. */
async function checkoutOf(
  place: Omit<WorktreePlace, 'branch'>,
): Promise<{ own: string } | { problem: string }> {
  const { folder, shown, common } = place;
  const pointer = await textOf(join(folder, '.git'));
  if (pointer === undefined) {
    return { problem: `the folder ${shown} or its .git file is missing or damaged` };
  }
  if ((await realpath(folder)) !== folder) return { problem: `${shown} is reached through a link now` };
  const [, named] = /^gitdir: (.+?)\s*$/.exec(pointer) ?? [];
  const own = named === undefined ? '' : resolve(folder, named);
  // Of its own checkout, and of no other: else git would work in another one from here.
  const back = own === '' ? undefined : await textOf(join(own, 'gitdir'));
  const isOwn = back !== undefined && resolve(own, back.trim()) === join(folder, '.git');
  if (!isOwn || (await realpath(dirname(own))) !== (await realpath(join(common, 'worktrees')))) {
    return { problem: `the .git file of ${shown} is damaged` };
  }
  return { own };
}

export async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

/** While a rebase has stopped, git shows no branch as checked out. */
async function rebased(own: string): Promise<string | undefined> {
  const [merge, apply] = [join(own, 'rebase-merge/head-name'), join(own, 'rebase-apply/head-name')];
  return ((await textOf(merge)) ?? (await textOf(apply)))?.trim();
}

async function hasRef(common: string, name: string): Promise<boolean> {
  if (await textOf(join(common, name))) return true;
  const packed = await textOf(join(common, 'packed-refs'));
  return packed?.split('\n').some((line) => line.endsWith(` ${name}`)) ?? false;
}

/** Undefined where there is no such file. */
async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'EISDIR'].includes(errorCode(error) ?? '');
}
