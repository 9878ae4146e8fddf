import * as z from 'zod';
import { face, type Tool } from './tool';

const both = face({
  description:
    'Read messages that have not been shown to you yet. Normally there are none: messages reach you by themselves before each of your turns.',
  input: z.object({}),
  run: async (_, { takeMail }) => {
    const mail = await takeMail();
    return mail === '' ? 'Inbox is empty.' : mail;
  },
});

export const readInbox: Tool = { name: 'read_inbox', effect: 'team', lead: both, teammate: both };
