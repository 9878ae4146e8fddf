import * as z from 'zod';
import { face, type Tool } from './tool';

const lead = face({
  description:
    'Ask a teammate to shut down. It answers when it can; the answer reaches you as a shutdown_response message.',
  input: z.object({
    teammate: z.string().min(1).describe("The teammate's name"),
    reason: z.string().optional().describe('Why'),
  }),
  run: async ({ teammate, reason }, { team, member, call }) => {
    const request = await team.requestShutdown(member, teammate, reason, call);
    return `Shutdown request ${request.requestId} sent to '${request.to}' (status: ${request.status})`;
  },
});

export const shutdownRequest: Tool = { name: 'shutdown_request', effect: 'team', lead };
