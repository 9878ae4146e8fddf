import * as z from 'zod';
import { spawnedText } from '../team/resultTexts';
import { face, type Tool } from './tool';

const lead = face({
  description:
    'Start a teammate that works on its own, with its own conversation. It reports back when it is done. Set require_plan for risky work: then it may change nothing before you approved its plan.',
  input: z.object({
    name: z.string().describe('Such as alice: a letter, then up to 31 letters, digits, - or _'),
    role: z.string().describe('Such as coder, or the name of a role the workspace has a file for'),
    prompt: z.string().describe('What to do, with all it needs to know'),
    task_id: z.string().optional().describe('A ready task of the board that it begins with, such as t1'),
    require_plan: z.boolean().optional().describe('Nothing may be changed before a plan is approved'),
    model: z.string().optional().describe('Another model than the usual one'),
  }),
  run: async ({ name, role, prompt, task_id, require_plan, model }, { team, member, call }) => {
    const spawned = await team.spawn(
      {
        name,
        role,
        prompt,
        ...(task_id === undefined ? {} : { taskId: task_id }),
        ...(require_plan === undefined ? {} : { requirePlan: require_plan }),
        ...(model === undefined ? {} : { model }),
      },
      member,
      call,
    );
    return spawnedText(spawned.name, spawned.role, spawned.roleFile);
  },
});

export const spawnTeammate: Tool = { name: 'spawn_teammate', effect: 'team', lead };
