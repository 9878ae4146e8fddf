import * as z from 'zod';
import { describeRequest } from '../team/describe';
import { decidedText } from '../team/resultTexts';
import { face, type Tool } from './tool';

const lead = face({
  description: 'Look up how a request stands, by its request_id.',
  input: z.object({ request_id: z.string().min(1) }),
  run: async ({ request_id }, { team }) => {
    const request = team.decisions.registry.get(request_id);
    if (!request) throw new Error(`Unknown request_id '${request_id}'.`);
    return `Request ${request_id} (${request.kind}, ${request.from} to ${request.to}): ${request.status}. ${describeRequest(request)}`;
  },
});

const teammate = face({
  description:
    'Answer a shutdown request. Approve it when your work is in a safe state: you then end after this call. Reject it with a reason to go on working.',
  input: z.object({
    request_id: z.string().min(1).describe('The request_id of the shutdown request'),
    approve: z.boolean(),
    reason: z.string().optional().describe('Why not, or a last word'),
  }),
  run: async ({ request_id, approve, reason }, { team, member, incarnation, call }) => {
    const decided = await team.decisions.decide(
      {
        requestId: request_id,
        response: 'shutdown_response',
        approve,
        by: member,
        incarnation,
        via: 'tool',
        ...(reason === undefined ? {} : { feedback: reason }),
      },
      call,
    );
    return decidedText(decided);
  },
});

export const shutdownResponse: Tool = { name: 'shutdown_response', effect: 'team', lead, teammate };
