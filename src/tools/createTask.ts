import * as z from 'zod';
import { createdText } from '../team/taskTexts';
import { face, type Tool } from './tool';

const lead = face({
  description:
    'Put a task on the shared board. Teammates that have nothing to do take ready tasks by themselves, the highest priority first, so say all that is needed in the description. Tasks that it has to wait for go into blocked_by.',
  input: z.object({
    subject: z.string().min(1).max(200).describe('What is to be done, in one line'),
    description: z.string().max(20_000).default('').describe('All that whoever does it needs to know'),
    priority: z.number().optional().describe('Higher first; 0 if left out'),
    blocked_by: z
      .array(z.string())
      .max(100)
      .optional()
      .describe('Ids of tasks to be completed first, such as t1'),
  }),
  run: async ({ subject, description, priority, blocked_by }, { team, member, call }) => {
    const task = await team.board.create(
      {
        subject,
        description,
        ...(priority === undefined ? {} : { priority }),
        ...(blocked_by === undefined ? {} : { blockedBy: blocked_by }),
      },
      member,
      call,
    );
    return createdText(task.id, task.subject);
  },
});

export const createTask: Tool = { name: 'create_task', effect: 'team', lead };
