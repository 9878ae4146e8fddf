import * as z from 'zod';
import { callName } from '../team/calls';
import { face, type Tool } from './tool';

const DEFAULT_TIMEOUT_S = 120;
const MAX_TIMEOUT_S = 600;

const both = face({
  description:
    'Run a shell command in the workspace folder. There is no terminal and no input; the command is ended after the time-out together with everything it started. The human may be asked first.',
  input: z.object({
    command: z.string().min(1).describe('The command line'),
    description: z.string().optional().describe('In a few words, why'),
    timeout: z
      .number()
      .positive()
      .max(MAX_TIMEOUT_S)
      .optional()
      .describe(`Seconds until it is ended (default ${DEFAULT_TIMEOUT_S}, at most ${MAX_TIMEOUT_S})`),
  }),
  access: async ({ command, description }) => ({
    access: 'command',
    subject: command,
    ...(description === undefined ? {} : { description }),
  }),
  run: async ({ command, timeout }, { workspace, signal, team, call }) => {
    const timeoutMs = (timeout ?? DEFAULT_TIMEOUT_S) * 1000;
    const outcome = await workspace.runCommand(command, {
      timeoutMs,
      signal,
      call: callName(team.state.teamId, call),
    });
    const notes: string[] = [];
    if (outcome.timedOut) notes.push(`[ended after the time-out of ${timeoutMs / 1000} s]`);
    else if (outcome.aborted) notes.push(`[stopped: ${whyStopped(signal)}]`);
    else if (outcome.signal !== null) notes.push(`[ended by signal ${outcome.signal}]`);
    else if (outcome.exitCode !== 0) notes.push(`[exit code ${outcome.exitCode}]`);
    const text = [outcome.output.trimEnd(), ...notes].filter((part) => part !== '').join('\n');
    return text === '' ? '(no output)' : text;
  },
});

function whyStopped({ reason }: AbortSignal): string {
  return reason === 'suspend' ? 'the window was closed' : 'the member was interrupted';
}

export const bash: Tool = { name: 'bash', effect: 'workspace', lead: both, teammate: both };
