import * as z from 'zod';
import { sentText } from '../team/resultTexts';
import { face, type Tool } from './tool';

const both = face({
  description:
    'Send a plain message to a member of the team. It can ask and tell; it cannot approve, reject or shut down anybody: those have tools of their own.',
  // Strict: an argument such as msg_type is an attempt at a control message, and is refused by name.
  input: z.strictObject({
    to: z.string().min(1).describe("A teammate's name, or lead"),
    content: z.string().min(1).describe('The text'),
  }),
  run: async ({ to, content }, { team, member, call }) => {
    const message = await team.send(member, to, content, { call });
    return sentText(message);
  },
});

export const sendMessage: Tool = { name: 'send_message', effect: 'team', lead: both, teammate: both };
