import * as z from 'zod';
import { acceptAll, HUMAN } from '../protocol';
import { LEAD_WORK } from '../team/member';
import type { ProposalStart } from '../team/recruiting';
import { spawnedText } from '../team/resultTexts';
import { createdText } from '../team/taskTexts';
import { face, type Tool } from './tool';

const LONGEST = 100_000;

const member = z.object({
  name: z.string().describe('Such as alice: a letter, then up to 31 letters, digits, - or _'),
  role: z.string().describe('Such as coder, or the name of a role the workspace has a file for'),
  prompt: z.string().max(LONGEST).describe('What to do, with all it needs to know'),
  task: z.string().optional().describe('The key of the task it begins with, one that waits for no other'),
  require_plan: z.boolean().optional().describe('Nothing may be changed before a plan is approved'),
  model: z.string().optional().describe('Another model than the usual one'),
});

const task = z.object({
  key: z.string().describe('Names the task within this proposal, such as parser'),
  subject: z.string().min(1).max(200).describe('In a few words'),
  description: z.string().max(LONGEST).describe('What is to be done, and when it is done'),
  priority: z.number().int().min(-1000).max(1000).optional().describe('Higher first; 0 where it is left out'),
  blocked_by: z.array(z.string()).optional().describe('Keys of the tasks that have to be completed first'),
  isolated: z
    .boolean()
    .optional()
    .describe(
      'It is done in a git worktree of its own, and the human merges the result; for tasks done at the same time that would change the same files. Who begins with it starts once the worktree is there',
    ),
});

const lead = face({
  description:
    'Propose teammates, and tasks for the board, to the human, who accepts all or a part of it, changes what should be different, or says what to do instead. Teammates begin with the task you name for them and then take what is ready. Then end your turn: the answer reaches you as a message.',
  input: z.object({
    members: z.array(member).min(1).max(20),
    tasks: z.array(task).max(100).optional(),
    calls_at_once: z
      .number()
      .int()
      .positive()
      .max(1000)
      .optional()
      .describe('How many model calls you expect to run at the same time'),
  }),
  run: async (input, { team, member: from, call }) => {
    const payload = team.recruiting.checkProposal(input);
    if (team.startsUnasked) {
      const start = await team.recruiting.startUnasked(acceptAll(payload), call, ({ records }) =>
        team.ledger.commit(records),
      );
      return unaskedText(start);
    }
    const request = await team.decisions.open({
      kind: 'team_proposal',
      from,
      to: HUMAN,
      payload,
      work: LEAD_WORK,
      call,
    });
    return `Team proposed (request_id=${request.requestId}). Waiting for the human's decision.`;
  },
});

/** In the words that a call is answered with that a closed window cut off. */
function unaskedText({ records, leftOut }: ProposalStart): string {
  return [
    'Started without asking the human (setting handshake.approvals.team: auto).',
    ...records.flatMap((record) => {
      if (record.t === 'task_created') return [createdText(record.task_id, record.subject)];
      return record.t === 'member' ? [spawnedText(record.name, record.role, record.role_file)] : [];
    }),
    ...leftOut.map(({ name, reason }) => `Left out: ${name}: ${reason}`),
  ].join('\n');
}

export const proposeTeam: Tool = { name: 'propose_team', effect: 'team', lead };
