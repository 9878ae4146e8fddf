import { describeOutcome } from '../protocol';
import type { TeamEvent } from '../team/events';
import { plainLine } from './plainText';
import { requestText } from './requestText';
import { callLine } from './usageText';

export interface LogLine {
  level: 'trace' | 'debug' | 'info' | 'warn' | 'error';
  text: string;
}

/** An event as one line of the log; nothing for streamed pieces, which the whole turn repeats. */
export function eventLine(event: TeamEvent): LogLine | undefined {
  switch (event.type) {
    case 'member':
      return { level: 'debug', text: `${event.name} ${statusOf(event)}` };
    case 'request': {
      const { change, request } = event;
      if (change === 'opened') {
        return {
          level: 'info',
          text: `Request ${request.requestId} opened: ${requestText(request).sentence}`,
        };
      }
      if (change === 'overdue') {
        return {
          level: 'warn',
          text: `Request ${request.requestId} is overdue: ${requestText(request).sentence}`,
        };
      }
      const via = request.via === undefined ? '' : ` (${request.via})`;
      return { level: 'info', text: `${plainLine(describeOutcome(request), 400)}${via}` };
    }
    case 'refusal':
      return { level: 'warn', text: `Refused ${event.by} (${event.code}): ${plainLine(event.text, 400)}` };
    case 'message': {
      const { type, from, to, content, external } = event.message;
      const who = `${plainLine(from, 40)} → ${plainLine(to, 40)}`;
      return {
        level: 'info',
        text: `${type}${external ? ' (external)' : ''} ${who}: ${plainLine(content, 300)}`,
      };
    }
    case 'task':
      return { level: 'info', text: `Task ${event.id} ${event.change}` };
    case 'shown':
      return undefined;
    case 'taken':
      return { level: 'debug', text: `${event.member} was shown ${event.ids.length} message(s)` };
    case 'turn_started':
      return { level: 'debug', text: `${event.member} starts a turn` };
    case 'turn_ended':
      return event.error
        ? {
            level: 'error',
            text: `${event.member}: ${event.error.kind}: ${plainLine(event.error.text, 600)}`,
          }
        : { level: 'debug', text: `${event.member} ended its turn` };
    case 'assistant':
      return {
        level: 'info',
        text: `${event.member}${event.demo ? ' (demo)' : ''}: ${plainLine(event.text, 300)}`,
      };
    case 'tool_started':
      return {
        level: 'info',
        text: `${event.member} calls ${plainLine(event.name, 60)} ${compact(event.input)}`,
      };
    case 'tool_ended': {
      const level = event.isError ? 'warn' : 'debug';
      return {
        level,
        text: `${event.member} ${plainLine(event.name, 60)} → ${plainLine(event.result, 300)}`,
      };
    }
    case 'notice': {
      const levels = { info: 'info', warning: 'warn', error: 'error' } as const;
      const who = event.member ? `${event.member}: ` : '';
      return { level: levels[event.level], text: `${who}${plainLine(event.text, 600)}` };
    }
    case 'conversation_reset':
      return { level: 'info', text: 'The lead starts a new conversation' };
    case 'call_retried': {
      const { error, tries } = event;
      return {
        level: 'warn',
        text: `${event.member}: try ${tries} of a model call failed, and it is made again: ${error.kind}: ${plainLine(error.text, 600)}`,
      };
    }
    case 'call_waits':
      return { level: 'info', text: `${event.member} ${event.text}` };
    case 'uncounted':
      return {
        level: 'info',
        text: `${event.member}: a call of ${plainLine(event.model, 80)} broke off before its tokens were told; what it used is unknown`,
      };
    case 'usage':
      return event.call && { level: 'info', text: callLine(event.member, event.call) };
    case 'budget':
      return event.warning === undefined
        ? { level: 'info', text: `The budget of ${event.name ?? 'the team'} was raised` }
        : { level: 'warn', text: event.warning };
    case 'text':
    case 'text_void':
    case 'settled':
      return undefined;
  }
}

function statusOf({ status, reason }: { status?: string; reason?: string }): string {
  if (status === undefined) return 'changed';
  return reason === undefined ? `is ${status}` : `is ${status}: ${plainLine(reason, 300)}`;
}

function compact(input: unknown): string {
  // A tool's input came as JSON, so it can be written as JSON; only `undefined` has no text.
  return plainLine(JSON.stringify(input) ?? '', 300);
}
