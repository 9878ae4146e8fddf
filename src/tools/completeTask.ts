import * as z from 'zod';
import { completedText } from '../team/taskTexts';
import { face, type Tool } from './tool';

const both = face({
  description:
    'Close the task that you have under way, once it is done and checked. Tasks that waited for it become ready.',
  input: z.object({
    task_id: z.string().min(1).describe('Such as t1'),
    result: z
      .string()
      .min(1)
      .max(20_000)
      .describe('What was done and where, for the lead and for those who build on it'),
  }),
  run: async ({ task_id, result }, { team, member, incarnation, call }) => {
    const { task, freed } = await team.board.complete(task_id, { name: member, incarnation }, result, call);
    return completedText(task, freed);
  },
});

export const completeTask: Tool = {
  name: 'complete_task',
  effect: 'team',
  oneRecord: true,
  lead: both,
  teammate: both,
};
