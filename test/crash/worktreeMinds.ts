import type { GitRepo } from '../unit/support/gitRepo';
import { ownTasks } from './boardMinds';
import type { Mind, Wish } from './brain';
import type { Heard } from './heard';
import { inOrder, spawn, write } from './minds';

/** The task whose worktree the lead makes, and the one that the human wants apart. */
export const APART = 'Apart';
export const BY_HAND = 'By hand';

/** What the user has in the main folder and has not committed; nothing of it may change. */
export async function leaveOwnChanges(repo: GitRepo): Promise<void> {
  await repo.put('readme.md', 'one\nmine\nthree\n');
  await repo.put('mine.txt', 'mine\n');
  await repo.put('staged.txt', 'mine, staged\n');
  repo.git('add', 'staged.txt');
}

/** The files that the work on a task changes, from the root of the checkout. */
export function filesOf(task: string): string[] {
  return ['src/a.ts', `${task}-one.txt`, `${task}-two.txt`];
}

/** What the work on a task makes of a line of `src/a.ts`; each task has its own. */
export function editOf(task: string): { before: string; after: string } {
  const line = task === 't1' ? 'line 5' : 'line 25';
  return { before: `${line}\n`, after: `${line} by ${task}\n` };
}

function edit(task: string): Wish {
  const { before: old_text, after: new_text } = editOf(task);
  return {
    name: 'edit_file',
    input: { path: 'src/a.ts', old_text, new_text },
    // An attempt that was cut off may have written it.
    doneBy: /old_text was not found/,
  };
}

const lead: Mind = (heard) => {
  if (!heard.words.includes('Begin.')) return [];
  return inOrder(
    heard,
    () => [{ name: 'create_task', input: { subject: APART, description: 'Do it apart.' } }],
    () => [{ name: 'create_worktree', input: { task_id: 't1' }, doneBy: /already has|is completed/ }],
    () => [spawn('alice', false)],
  );
};

/** Writes and edits in the worktree of each task that it is given, and completes it. */
const alice: Mind = (heard) => {
  const stages = ownTasks(heard).flatMap((complete) => {
    const id = String(complete.input.task_id);
    return [...work(heard, id), (): Wish[] => [complete]];
  });
  return inOrder(heard, ...stages);
};

function work(heard: Heard, id: string): (() => Wish[])[] {
  return [() => write(heard, `${id}-one.txt`), () => [edit(id)], () => write(heard, `${id}-two.txt`)];
}

export const worktreeMinds: Readonly<Record<string, Mind>> = { lead, alice };
