import { type ReplyBlock, type ScriptStep, text, toolUse } from '../../model-server';
import { newsOf } from './lines';
import type { Scene } from './scene';

/** One piece of a file gives way to another; without an old one the file is written. */
export interface Change {
  path: string;
  old?: string;
  now: string;
}

/**
 * The lead puts a task with a worktree of its own on the board and starts ann with it, who makes these changes and
 * closes it.
 * @param again what ann changes when the work comes back
 * @returns the task's id, once it waits for a review
 */
export async function isolatedWork(
  scene: Scene,
  subject: string,
  changes: readonly Change[],
  again: readonly Change[] = [],
): Promise<string> {
  let id = '';
  const closes: ScriptStep = ({ body }) => {
    if (newsOf(body).includes('Error:')) throw new Error(`ann could not make a change: ${newsOf(body)}`);
    return [toolUse('complete_task', { task_id: id, result: 'Done as asked.' })];
  };
  scene.play({
    lead: [
      [toolUse('create_task', { subject, description: 'What a note may hold is not what people need.' })],
      ({ body }) => {
        id = /Created (t\d+):/.exec(newsOf(body))?.[1] ?? '';
        return [toolUse('create_worktree', { task_id: id })];
      },
      () => [toolUse('spawn_teammate', { name: 'ann', role: 'coder', prompt: `Do ${id}.`, task_id: id })],
    ],
    ann: [
      reads(changes),
      changes.map(madeBy),
      closes,
      [text('Done.')],
      ...(again.length === 0 ? [] : [again.map(madeBy), closes, [text('Done again.')]]),
    ],
  });
  await scene.tell(`${subject}, please.`);
  await scene.window.treeRow('Board', subject).waitFor();
  await scene.window.treeRow('Board', 'To Review').waitFor();
  return id;
}

function reads(changes: readonly Change[]): ReplyBlock[] {
  const paths = new Set(changes.flatMap(({ path, old }) => (old === undefined ? [] : [path])));
  return [...paths].map((path) => toolUse('read_file', { path }));
}

const madeBy = ({ path, old, now }: Change): ReplyBlock =>
  old === undefined
    ? toolUse('write_file', { path, content: now })
    : toolUse('edit_file', { path, old_text: old, new_text: now });
