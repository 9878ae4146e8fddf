/** How the demo lead tells the human what came of its calls and what has arrived. */

import type { Step } from './sentences';
import { argument, type Call, type Happening, type Mail, oneLine } from './story';

/** @param turn what else happened in this turn, so that nothing is announced that has come already */
export function reportCall(call: Call, steps: readonly Step[], turn: readonly Happening[]): string {
  const result = call.result ?? '';
  if (call.name === 'plan_approval') return reportDecision(call, result);
  if (call.failed) return `That did not work (${call.name}): ${oneLine(result.replace(/^Error: /, ''))}`;
  switch (call.name) {
    case 'spawn_teammate':
      return `${argument(call, 'name')} is on the team as ${argument(call, 'role')}.`;
    case 'shutdown_request': {
      const name = argument(call, 'teammate');
      const answered = turn.some(
        (event) => event.kind === 'mail' && event.type === 'shutdown_response' && event.from === name,
      );
      return `${result.replace(/\.$/, '')}.${answered ? '' : ` I will tell you when ${name} answers.`}`;
    }
    case 'list_teammates':
      return reportTeam(result, steps);
    case 'send_message':
      return `I told ${argument(call, 'to')}: ${oneLine(argument(call, 'content'))}`;
    case 'bash':
      return `\`${argument(call, 'command')}\`: ${summarizeOutput(result)}`;
    default:
      return oneLine(result);
  }
}

function reportDecision(call: Call, result: string): string {
  const id = argument(call, 'request_id');
  if (call.failed) {
    const said = oneLine(result.replace(/^Error: /, ''));
    return /already/i.test(said) ? `Somebody was quicker. ${said}` : `I could not decide plan ${id}: ${said}`;
  }
  return `${oneLine(result.replace(/\.$/, ''))} (request ${id}). Feedback: ${argument(call, 'feedback')}`;
}

function reportTeam(result: string, steps: readonly Step[]): string {
  const about = steps.flatMap((step) => (step.do === 'list' ? step.about : []));
  const lines = result.split('\n');
  const found = about.flatMap((name) => {
    const line = lines.find((candidate) => new RegExp(`^\\s*${name}\\b`, 'i').test(candidate));
    if (!line) return [`${name} is not on the roster.`];
    const status = /\b(working|idle|waiting|stopping|shutdown|failed)\b/.exec(
      line.replace(/^\s*\S+\s*\([^)]*\)/, ''),
    )?.[1];
    return [status ? `${name}'s status is ${status}.` : line.trim()];
  });
  return [...found, `\`\`\`\n${result.trim()}\n\`\`\``].join('\n\n');
}

export function reportMail(mail: Mail): string {
  const said = oneLine(mail.body, 600);
  if (mail.external) return `A message from outside the team, marked ${mail.from}: ${said}`;
  switch (mail.type) {
    case 'idle_notification':
      return '';
    case 'shutdown_response':
      return mail.approve
        ? `${mail.from} approved the shutdown (request ${mail.requestId}) and has shut down.`
        : `${mail.from} rejected the shutdown (request ${mail.requestId}): ${said}`;
    case 'plan_approval_request':
      return `${mail.from} has submitted a plan (request ${mail.requestId}). It stands in Requests; you can decide it there, or tell me "Approve ${mail.from}'s plan" or "Reject ${mail.from}'s plan because …".`;
    case 'result':
    case 'message':
    case 'broadcast':
      return `${mail.from} reports: ${said}`;
    case 'error':
      return `${mail.from} has a problem: ${said}`;
    default:
      return said ? `${mail.from}: ${said}` : '';
  }
}

/** The counts of a test run where the output holds them, else its last lines. */
export function summarizeOutput(output: string): string {
  const pass = /^\W*(?:pass|passing)\s+(\d+)|(\d+) passing/m.exec(output);
  const fail = /^\W*(?:fail|failing)\s+(\d+)|(\d+) failing/m.exec(output);
  const code = /\[exit code (\d+)\]/.exec(output)?.[1];
  if (pass) {
    const failed = fail ? (fail[1] ?? fail[2]) : '0';
    return `${pass[1] ?? pass[2]} passed, ${failed} failed${code ? ` (exit code ${code})` : ''}.`;
  }
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  return oneLine(lines.slice(-4).join(' / ') || 'no output', 400);
}
