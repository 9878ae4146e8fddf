import * as z from 'zod';
import { DEFAULT_TASK_LINES, describeTasks, MAX_TASK_LINES, TASK_FILTERS } from '../team/describeTasks';
import { face, type Tool } from './tool';

const both = face({
  description: 'List tasks of the board, a line each, with counts of all. Look at one task with get_task.',
  input: z.object({
    status: z
      .enum(TASK_FILTERS)
      .optional()
      .describe('Which; open (the default) is all that is not completed, ready is what can be claimed now'),
    owner: z.string().optional().describe('Only what this member has, or has completed'),
    limit: z
      .number()
      .int()
      .positive()
      .max(MAX_TASK_LINES)
      .optional()
      .describe(`How many lines at most (default ${DEFAULT_TASK_LINES})`),
  }),
  run: async ({ status, owner, limit }, { team }) =>
    describeTasks(team.board.book, {
      ...(status === undefined ? {} : { status }),
      ...(owner === undefined ? {} : { owner }),
      ...(limit === undefined ? {} : { limit }),
    }),
});

export const listTasks: Tool = { name: 'list_tasks', effect: 'read', lead: both, teammate: both };
