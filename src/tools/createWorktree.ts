import * as z from 'zod';
import { face, type Tool } from './tool';

const lead = face({
  description:
    'Give a task a git worktree of its own, on a branch of its own: whoever takes the task works there and cannot touch the main checkout, and the human merges the result. Use it where tasks done at the same time would change the same files. Do it before the task is taken.',
  input: z.object({
    task_id: z.string().min(1).describe('Such as t1'),
    base: z
      .string()
      .min(1)
      .max(400)
      .optional()
      .describe('Branch or commit to begin at; what is checked out if left out'),
  }),
  run: async ({ task_id, base }, { team, member, call }) =>
    (await team.worktrees.create(task_id, member, base, call)).text,
});

export const createWorktree: Tool = { name: 'create_worktree', effect: 'team', lead };
