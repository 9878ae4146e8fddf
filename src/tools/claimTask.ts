import * as z from 'zod';
import { claimedReply } from '../team/taskTexts';
import { face, type Tool } from './tool';

const both = face({
  description:
    'Take a ready task of the board to work on it. One task at a time: complete the one you have first. When you have nothing to do you are given the best ready task by itself.',
  input: z.object({ task_id: z.string().min(1).describe('Such as t1') }),
  run: async ({ task_id }, { team, member, incarnation, call }) =>
    claimedReply(await team.board.claim(task_id, { name: member, incarnation }, call)),
});

export const claimTask: Tool = {
  name: 'claim_task',
  effect: 'team',
  oneRecord: true,
  lead: both,
  teammate: both,
};
