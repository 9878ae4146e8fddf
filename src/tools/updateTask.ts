import * as z from 'zod';
import { editedText, givenAwayText } from '../team/taskTexts';
import { face, type Tool } from './tool';

const lead = face({
  description:
    'Change a task of the board: its text, priority or dependencies; block it with a reason; set it to pending to take it back from its owner, to unblock it or to open it again; or give it to a member with owner.',
  input: z
    .object({
      task_id: z.string().min(1).describe('Such as t1'),
      subject: z.string().min(1).max(200).optional(),
      description: z.string().max(20_000).optional(),
      priority: z.number().optional().describe('Higher first'),
      blocked_by: z.array(z.string()).max(100).optional().describe('All tasks that it waits for, by id'),
      status: z.enum(['blocked', 'pending']).optional(),
      reason: z.string().optional().describe('Why it is blocked or taken back'),
      owner: z.string().optional().describe('A member that is to begin with it now'),
    })
    .refine(({ status, owner }) => status === undefined || owner === undefined, {
      message: 'status and owner cannot be set together',
    }),
  run: async ({ task_id, owner, blocked_by, ...input }, { team, member, call }) => {
    const edit = {
      ...input,
      ...(blocked_by === undefined ? {} : { blockedBy: blocked_by }),
    };
    const isEdited = Object.values(edit).some((value) => value !== undefined);
    if (!isEdited && owner === undefined) throw new Error('Nothing to change was given.');
    const done: string[] = [];
    if (isEdited) done.push(editedText((await team.board.edit(task_id, edit, member, call)).id));
    if (owner !== undefined) {
      const task = await team.board.assign(task_id, owner, member, call);
      done.push(givenAwayText(task, task.owner ?? owner));
    }
    return done.join('\n');
  },
});

export const updateTask: Tool = { name: 'update_task', effect: 'team', lead };
