import type { Landing } from './landing';
import { git, gitLine, gitText } from './run';

/** A part of a task's work that was accepted earlier. */
export interface AcceptedPart {
  /** The worktree's base with all that was accepted so far. */
  readonly tree: string;
  readonly landing: Landing;
}

/**
 * Keeps the trees of accepted parts from being cleared away, until {@link letGo}. The ref is one of the whole
 * repository: of those that are a worktree's alone git clears away what they hold. It holds a tree and no commit, so
 * that no history shows it.
 * @param branch of the worktree; no other one of the repository has it
 */
export async function keep(root: string, branch: string, parts: readonly AcceptedPart[]): Promise<void> {
  const ref = refOf(branch);
  const before = await gitLine(root, ['rev-parse', '--verify', '--quiet', ref], { accept: [1] });
  const names = before === '' ? '' : await gitText(root, ['ls-tree', '--name-only', before]);
  const trees = new Set([...names.split('\n').filter((name) => name !== ''), ...parts.flatMap(treesOf)]);
  const input = [...trees].map((tree) => `040000 tree ${tree}\t${tree}\n`).join('');
  const after = await gitLine(root, ['mktree'], { input });
  if (after !== before) await git(root, ['update-ref', ref, after]);
}

export async function letGo(root: string, branch: string): Promise<void> {
  await git(root, ['update-ref', '-d', refOf(branch)]);
}

/** Those whose trees are there still: older versions kept them so that git could clear them away. */
export async function partsThere(root: string, parts: readonly AcceptedPart[]): Promise<AcceptedPart[]> {
  if (parts.length === 0) return [];
  const input = parts.flatMap(treesOf).join('\n');
  const lines = (await git(root, ['cat-file', '--batch-check'], { input })).stdout.toString().split('\n');
  const missing = new Set(lines.flatMap((line) => /^(\S+) missing$/.exec(line)?.[1] ?? []));
  return parts.filter((part) => !treesOf(part).some((tree) => missing.has(tree)));
}

function treesOf({ tree, landing }: AcceptedPart): string[] {
  return [tree, landing.from, landing.to];
}

function refOf(branch: string): string {
  return `refs/handshake/accepted/${branch}`;
}
