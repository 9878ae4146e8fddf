import * as z from 'zod';
import { taskLine } from '../team/describeTasks';
import { taskPage } from '../team/taskTexts';
import { face, type Tool } from './tool';

const both = face({
  description: 'Read one task of the board: its description, notes and result.',
  input: z.object({ task_id: z.string().min(1).describe('Such as t1') }),
  run: async ({ task_id }, { team }) => {
    const task = team.board.get(task_id);
    return taskPage(task, taskLine(team.board.book, task));
  },
});

export const getTask: Tool = { name: 'get_task', effect: 'read', lead: both, teammate: both };
