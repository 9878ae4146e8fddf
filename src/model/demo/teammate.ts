/** What a teammate would do next, from its own conversation alone. */

import { planFor } from './plan';
import { summarizeOutput } from './report';
import {
  act,
  argument,
  type Call,
  type Happening,
  type Mail,
  type Move,
  oneLine,
  type Story,
  say,
} from './story';
import { workMove } from './work';

/** What the system prompt of a teammate says whose work needs an approved plan. */
const PLAN_LINE = 'A plan is required before you change anything';
const WANTS_PLAN = /\b(?:submit|make|write|prepare|revise|send)\b[^.]{0,40}\bplan\b|\brevised plan\b/i;
const WANTS_WORK =
  /\b(?:add|fix|implement|refactor(?:ing)?|change|write|build|create|update|edit|improve|health|go ahead)\b/i;

export function teammateMove(story: Story, system: string): Move {
  const asked = openShutdown(story);
  if (asked) return answerShutdown(story, asked);
  const turn = story.happenings.slice(story.turnStart);
  const endings: string[] = [];
  for (const [offset, mail] of turn.entries()) {
    if (mail.kind !== 'mail' || mail.type === 'idle_notification') continue;
    const at = story.turnStart + offset;
    const after = story.happenings.slice(at + 1).filter((event): event is Call => event.kind === 'call');
    const move = react(story, mail, at, after, system);
    if (move.calls.length > 0) return move;
    if (move.say !== '') endings.push(move.say);
  }
  return say([...new Set(endings)].join('\n') || 'Nothing is left for me to do.');
}

function openShutdown(story: Story): Mail | undefined {
  const answered = story.happenings.flatMap((event) =>
    event.kind === 'call' && event.name === 'shutdown_response' ? [argument(event, 'request_id')] : [],
  );
  return story.happenings.find(
    (event): event is Mail =>
      event.kind === 'mail' &&
      event.type === 'shutdown_request' &&
      !event.external &&
      !answered.includes(event.requestId),
  );
}

export function answerShutdown(story: Story, mail: Mail): Move {
  const stays = story.happenings.some(
    (event) =>
      event.kind === 'mail' &&
      event.type === 'message' &&
      !event.external &&
      /\b(?:refuse|reject|decline|do not|don't|never)\b[^.]{0,30}\bshut/i.test(event.body),
  );
  return stays
    ? act('I was told to stay, so I decline.', 'shutdown_response', {
        request_id: mail.requestId,
        approve: false,
        reason: 'I was told not to shut down before my work is done.',
      })
    : act('My work is in a safe state, so I agree to shut down.', 'shutdown_response', {
        request_id: mail.requestId,
        approve: true,
      });
}

function react(story: Story, mail: Mail, at: number, after: Call[], system: string): Move {
  switch (mail.type) {
    case 'plan_approval_response':
      return mail.approve && !mail.external ? workMove(after, task(story, at)) : afterRejection(mail, after);
    case 'plan_request':
      return submitPlan(story, at, after);
    case 'shutdown_request':
      return afterShutdownAnswer(mail, after);
    case 'message':
    case 'broadcast':
      return reactToWords(story, mail, at, after, system);
    default:
      return say('');
  }
}

function reactToWords(story: Story, mail: Mail, at: number, after: Call[], system: string): Move {
  const { body } = mail;
  const planned = system.includes(PLAN_LINE);
  if (WANTS_PLAN.test(body)) return submitPlan(story, at, after);
  if (planned && !story.happenings.slice(0, at).some(isPlan)) return submitPlan(story, at, after);
  const command = /\brun\s+[`"']([^`"']+)[`"']/i.exec(body)?.[1];
  if (command) return run(command, after);
  if (/\brun\b[^.]{0,20}\btests?\b|\bnpm test\b/i.test(body)) return run('npm test', after);
  if (/\bno task yet\b/i.test(body)) return say('I am ready and wait for work.');
  if (!WANTS_WORK.test(body)) return say(`Understood: ${oneLine(body, 120)}`);
  if (!planned) return workMove(after, body);
  // Words are no approval: only the answer to the request opens the gate.
  return planIsPending(story, at)
    ? say('My plan still waits for its decision, so I change nothing yet.')
    : submitPlan(story, at, after);
}

function run(command: string, after: Call[]): Move {
  const call = after.find((made) => made.name === 'bash' && argument(made, 'command') === command);
  if (!call) return act(`I run \`${command}\`.`, 'bash', { command, description: 'Part of my task' });
  if (call.failed) return say(`I could not run \`${command}\`: ${oneLine(call.result ?? '')}`);
  return say(`I ran \`${command}\`: ${summarizeOutput(call.result ?? '')}`);
}

function submitPlan(story: Story, at: number, after: Call[]): Move {
  const call = after.find((made) => made.name === 'plan_approval');
  if (call) {
    if (call.failed) return say(`My plan could not be submitted: ${oneLine(call.result ?? '')}`);
    return say('My plan is submitted. I change nothing until it is decided.');
  }
  const rejection = story.happenings
    .slice(0, at + 1)
    .findLast((event) => event.kind === 'mail' && event.type === 'plan_approval_response' && !event.approve);
  const feedback = rejection?.kind === 'mail' ? rejection.body : '';
  const { plan, files } = planFor(task(story, at), feedback);
  return act('Before I change anything I submit a plan.', 'plan_approval', { plan, files });
}

/** Shows what the gate is for: one attempt to write after the rejection, which the runtime must stop. */
function afterRejection(mail: Mail, after: Call[]): Move {
  const attempt = after.find((made) => made.name === 'write_file');
  if (!attempt)
    return act('My plan was rejected. I check that nothing can be written now.', 'write_file', {
      path: 'handshake-demo.md',
      content: 'This file must not appear: the plan was rejected.\n',
    });
  const outcome = attempt.failed
    ? `The attempt to write was stopped: ${oneLine(attempt.result ?? '', 120)}`
    : 'The attempt to write went through, which a rejected plan should have prevented.';
  return say(
    `My plan was rejected: ${oneLine(mail.body)}\n${outcome}\nI will not write without an approved plan; I submit a revised one when I am asked for it.`,
  );
}

function afterShutdownAnswer(mail: Mail, after: Call[]): Move {
  const call = after.find(
    (made) => made.name === 'shutdown_response' && argument(made, 'request_id') === mail.requestId,
  );
  if (call?.failed)
    return say(`My answer to the shutdown request was not taken: ${oneLine(call.result ?? '')}`);
  return say(call?.input.approve === false ? 'I go on with my work.' : 'Goodbye.');
}

function isPlan(event: Happening): boolean {
  return event.kind === 'call' && event.name === 'plan_approval' && !event.failed;
}

function planIsPending(story: Story, at: number): boolean {
  const before = story.happenings.slice(0, at);
  const decided = before.findLastIndex(
    (event) => event.kind === 'mail' && event.type === 'plan_approval_response',
  );
  return before.findLastIndex(isPlan) > decided;
}

/** The newest message that gives something to do, up to here. */
function task(story: Story, at: number): string {
  const mails = story.happenings.slice(0, at + 1).filter((event): event is Mail => event.kind === 'mail');
  const given = mails.filter((mail) => mail.type === 'message' && !mail.external);
  return (
    (
      given.findLast((mail) => /\btask\b|\b(?:add|fix|implement|refactor|risky)\b/i.test(mail.body)) ??
      given[0]
    )?.body ?? ''
  );
}
