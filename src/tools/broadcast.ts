import * as z from 'zod';
import { face, type Tool } from './tool';

const lead = face({
  description: 'Send one message to every teammate.',
  input: z.object({ content: z.string().min(1).describe('The text') }),
  run: async ({ content }, { team, member, call }) => {
    const names = await team.broadcast(member, content, call);
    return names.length === 0
      ? 'There are no teammates to reach.'
      : `Broadcast to ${names.length} teammate${names.length === 1 ? '' : 's'}: ${names.join(', ')}`;
  },
});

export const broadcast: Tool = { name: 'broadcast', effect: 'team', lead };
