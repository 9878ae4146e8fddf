import * as z from 'zod';
import { workOf } from '../team/member';
import { leadDecision } from './leadDecision';
import { face, type Tool } from './tool';

const lead = leadDecision(
  'plan_approval_response',
  "Decide a teammate's plan by its request_id. Approving opens its tools for this task; rejecting keeps them shut, and the feedback reaches the teammate.",
  'What to change, or what to watch',
  // Models know this tool by this error.
  (requestId) => `Unknown plan request_id '${requestId}'`,
);

const teammate = face({
  description:
    'Submit a plan for approval, before you change anything. Then end your turn: the decision reaches you as a message. A new plan takes the place of one that is still pending.',
  input: z.object({
    plan: z.string().min(1).describe('What you will do and why, in Markdown'),
    files: z.array(z.string()).optional().describe('Paths or globs you will write'),
    commands: z.array(z.string()).optional().describe('Commands you will run'),
  }),
  run: async ({ plan, files, commands }, { team, member: name, incarnation, call }) => {
    const member = team.resolveAlive(name);
    const request = await team.decisions.open({
      kind: 'plan_approval',
      from: name,
      to: 'lead',
      payload: { plan, ...(files ? { files } : {}), ...(commands ? { commands } : {}) },
      work: { ...workOf(member), incarnation },
      call,
    });
    return `Plan submitted (request_id=${request.requestId}). Waiting for lead approval.`;
  },
});

export const planApproval: Tool = { name: 'plan_approval', effect: 'team', lead, teammate };
