import * as fs from 'node:fs';
import * as path from 'node:path';
import type { Task } from '../../src/team/task';
import { type GitRepo, repoAt } from '../unit/support/gitRepo';
import type { Home, Life } from './life';
import { isMerged } from './worktreeHuman';
import { APART, BY_HAND, editOf, filesOf } from './worktreeMinds';

const OWN_STATUS = [' M readme.md', '?? mine.txt', 'A  staged.txt'];
const OWN_FILES = [
  ['readme.md', 'one\nmine\nthree\n'],
  ['mine.txt', 'mine\n'],
  ['staged.txt', 'mine, staged\n'],
] as const;

/**
 * Whether git holds exactly what the team says of its worktrees, each merge is there whole or not at all and at
 * most once, and all of the user's own is as it was.
 * @returns what is wrong
 */
export async function checkWorktrees(home: Home, life: Life, ended: boolean): Promise<string[]> {
  const repo = repoAt(home.root);
  const tasks = life.core.tasks();
  return [
    ...(await checkPlaces(repo, life)),
    ...tasks.flatMap((task) => checkWork(repo, task)),
    ...checkMerges(repo, tasks),
    ...checkOwn(repo),
    ...checkScratch(repo),
    ...(ended ? checkEnd(repo, tasks) : []),
  ];
}

/** No worktree, folder or branch but those of the board, and these usable. */
async function checkPlaces(repo: GitRepo, { core }: Life): Promise<string[]> {
  const wrong: string[] = [];
  const held = core.tasks().flatMap(({ id, worktree }) => (worktree ? [{ id, ...worktree }] : []));
  for (const { id, state } of held) {
    if (state !== 'ready') wrong.push(`the worktree of ${id} is ${state}`);
    else {
      const { broken } = await core.inspectWorktree(id);
      if (broken !== undefined) wrong.push(`the worktree of ${id} is broken: ${broken}`);
    }
  }
  const compare = (what: string, found: string[], wanted: string[]): void => {
    if (found.sort().join() !== wanted.sort().join()) {
      wrong.push(`${what}: ${found.join(', ')} in place of ${wanted.join(', ')}`);
    }
  };
  compare('branches', repo.branches(), ['main', ...held.map(({ branch }) => branch)]);
  const known = repo.git('worktree', 'list', '--porcelain').split('\n');
  compare(
    'worktrees that git knows',
    known.flatMap((line) => (line.startsWith('worktree ') ? [line.slice(9)] : [])),
    [repo.root, ...held.map((one) => path.join(repo.root, one.path))],
  );
  const folder = path.join(repo.root, '.team', 'worktrees');
  compare(
    'folders',
    fs.existsSync(folder) ? fs.readdirSync(folder) : [],
    held.map((one) => path.basename(one.path)),
  );
  return wrong;
}

/** Nothing of a window that is gone lies beside the indexes. */
function checkScratch(repo: GitRepo): string[] {
  return fs
    .readdirSync(path.join(repo.root, '.git'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /index\.(handshake-|lock)/.test(name))
    .map((name) => `${name} was left in .git`);
}

/** What was done for a task stands in its worktree, as long as there is one. */
function checkWork(repo: GitRepo, { id, status, worktree }: Task): string[] {
  if (status !== 'completed' || worktree === undefined) return [];
  const at = path.join(repo.root, worktree.path);
  const lost = filesOf(id).filter((file) => !fs.existsSync(path.join(at, file)));
  const isEdited = fs.readFileSync(path.join(at, 'src/a.ts'), 'utf8').includes(editOf(id).after);
  return [...lost, ...(isEdited ? [] : ['src/a.ts'])].map((file) => `${id} is completed without ${file}`);
}

function checkMerges(repo: GitRepo, tasks: readonly Task[]): string[] {
  const wrong: string[] = [];
  for (const { id, worktree } of tasks) {
    const open = worktree?.accepted.filter(({ outcome }) => outcome === undefined) ?? [];
    if (open.length > 0) wrong.push(`an acceptance of ${id} is still open`);
    const merged = worktree?.accepted.filter(({ outcome }) => outcome === 'merged') ?? [];
    if (merged.length > 1) wrong.push(`${id} was merged ${merged.length} times`);
  }
  const first = tasks.find(({ subject }) => subject === APART);
  const second = tasks.find(({ subject }) => subject === BY_HAND);
  const commits = repo.git('log', '--format=%s').split('\n');
  const wanted = first && isMerged(first) ? [APART, 'first'] : ['first'];
  if (commits.join() !== wanted.join()) wrong.push(`the commits are ${commits.join(', ')}`);
  if (commits[0] === APART) {
    const files = repo.git('diff-tree', '-r', '--name-only', 'HEAD~1', 'HEAD').split('\n').sort();
    if (files.join() !== filesOf('t1').join()) wrong.push(`the commit holds ${files.join(', ')}`);
  }
  // Removed is only what was merged.
  const isIn = second !== undefined && (isMerged(second) || isRemoved(second));
  const own = isIn ? [' M src/a.ts', '?? t2-one.txt', '?? t2-two.txt'] : [];
  const status = repo.status();
  const expected = [...OWN_STATUS, ...own].sort();
  if (status.join() !== expected.join()) {
    wrong.push(`the main folder has ${status.join(', ')} in place of ${expected.join(', ')}`);
  }
  const text = fs.readFileSync(path.join(repo.root, 'src/a.ts'), 'utf8');
  for (const [id, is] of [['t1', commits[0] === APART] as const, ['t2', isIn] as const]) {
    if (text.includes(editOf(id).after) !== is) wrong.push(`src/a.ts and the board differ on ${id}`);
  }
  return wrong;
}

function isRemoved({ status, worktree }: Task): boolean {
  return status === 'completed' && worktree === undefined;
}

function checkOwn(repo: GitRepo): string[] {
  const wrong = OWN_FILES.flatMap(([name, content]) =>
    fs.readFileSync(path.join(repo.root, name), 'utf8') === content ? [] : [`${name} has changed`],
  );
  if (repo.git('show', ':staged.txt') !== 'mine, staged') wrong.push('staged.txt is not staged as it was');
  return wrong;
}

function checkEnd(repo: GitRepo, tasks: readonly Task[]): string[] {
  const wrong = tasks.length === 2 ? [] : [`there are ${tasks.length} tasks`];
  const left = fs.readdirSync(path.join(repo.root, '.git')).filter((name) => name.endsWith('.lock'));
  wrong.push(...left.map((name) => `.git/${name} was left behind`));
  // Throws where an object is missing that something needs.
  repo.git('fsck', '--connectivity-only', '--no-dangling');
  return wrong;
}
