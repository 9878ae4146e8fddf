import * as z from 'zod';
import { type Answer, Refusal } from '../protocol';
import { decidedText } from '../team/resultTexts';
import { face, type ToolFace } from './tool';

/**
 * The lead's answer to a request of one kind, as a tool.
 * @param feedback what the model is told to put there
 * @param unknown the words for a request that does not exist; those of every refusal by default
 */
export function leadDecision(
  response: 'permission_response' | 'plan_approval_response',
  description: string,
  feedback: string,
  unknown?: (requestId: string) => string,
): ToolFace {
  return face({
    description,
    input: z.object({
      request_id: z.string().min(1),
      approve: z.boolean(),
      feedback: z.string().optional().describe(feedback),
    }),
    run: async (input, { team, member, call }) => {
      const answer: Answer = {
        requestId: input.request_id,
        response,
        approve: input.approve,
        by: member,
        via: 'tool',
        ...(input.feedback === undefined ? {} : { feedback: input.feedback }),
      };
      try {
        return decidedText(await team.decisions.decide(answer, call));
      } catch (error) {
        if (!unknown || !(error instanceof Refusal) || error.code !== 'unknown_request') throw error;
        throw new Refusal(error.code, unknown(error.requestId ?? input.request_id));
      }
    },
  });
}
