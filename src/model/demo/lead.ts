/**
 * What a lead would do next. It decides from the conversation alone: which steps the human's words ask for,
 * which calls were made for them, and what mail has come.
 */

import { reportCall, reportMail } from './report';
import { type Step, understand } from './sentences';
import { act, argument, type Call, type Mail, type Move, oneLine, type Story, say } from './story';

type Review = Extract<Step, { do: 'review' }>;

const HELP = `I am the demo lead: I follow plain sentences, without a language model. I understand, for example:
- Spawn alice as a coder. Then request her shutdown.
- List teammates to see alice's status after shutdown approval
- Spawn bob with a risky refactoring task. Review and reject his plan.
- Spawn charlie, have him submit a plan, then approve it.
- Spawn dana and have her run the tests.
- Tell bob to …, Broadcast: …, Ask alice to shut down, Approve bob's plan
For anything else set a key with "Handshake: Set API Key".`;

export function leadMove(story: Story, offered: ReadonlySet<string>): Move {
  const turn = story.happenings.slice(story.turnStart);
  const plan = reviewMove(story);
  if (plan) return plan;
  const words = turn.flatMap((event) => (event.kind === 'words' ? [event.text] : []));
  const steps = understand(words.join('\n'), namesBefore(story));
  const made = turn.filter((event): event is Call => event.kind === 'call');
  const missing: string[] = [];
  const next = nextStep(steps, [...made], offered, missing) ?? lookForAuthors(steps, story, offered);
  if (next) return next;
  const lines = turn.flatMap((event) => {
    if (event.kind === 'call') return [reportCall(event, steps, turn)];
    return event.kind === 'mail' && callsAbout(story, event.requestId).length === 0
      ? [reportMail(event)]
      : [];
  });
  lines.push(...missing, ...expected(steps, story));
  const report = lines.filter((line) => line !== '').join('\n');
  if (words.length > 0 && steps.length === 0) return say(report ? `${report}\n\n${HELP}` : HELP);
  return say(report || 'Nothing is left for me to do.');
}

/** The first step for which no call was made; a call is spent on one step only. */
function nextStep(
  steps: Step[],
  made: Call[],
  offered: ReadonlySet<string>,
  missing: string[],
): Move | undefined {
  const gone = new Set<string>();
  for (const step of steps) {
    if (step.do === 'review') continue;
    const target = 'name' in step ? step.name : '';
    const move = callFor(step, offered);
    if (!move) {
      missing.push(`I have no tool here to do that: ${step.do} ${target}`.trim());
      continue;
    }
    const wanted = move.calls[0];
    const at = made.findIndex((call) => call.name === wanted?.name && isFor(call, step));
    const call = at < 0 ? undefined : made.splice(at, 1)[0];
    if (call?.failed && step.do === 'spawn' && !/already/i.test(call.result ?? '')) gone.add(step.name);
    if (call || gone.has(target)) continue;
    return move;
  }
  return undefined;
}

function isFor(call: Call, step: Step): boolean {
  switch (step.do) {
    case 'spawn':
      return argument(call, 'name') === step.name;
    case 'shutdown':
      return argument(call, 'teammate') === step.name;
    case 'plan':
      return [argument(call, 'teammate'), argument(call, 'to')].includes(step.name);
    case 'tell':
      return argument(call, 'to') === step.name && argument(call, 'content') === step.text;
    default:
      return true;
  }
}

function callFor(step: Step, offered: ReadonlySet<string>): Move | undefined {
  const move = moveFor(step, offered);
  return move?.calls.every((call) => offered.has(call.name)) ? move : undefined;
}

function moveFor(step: Step, offered: ReadonlySet<string>): Move | undefined {
  switch (step.do) {
    case 'spawn':
      return act(`I start ${step.name} as a ${step.role}.`, 'spawn_teammate', {
        name: step.name,
        role: step.role,
        prompt: promptFor(step),
        ...(step.plan ? { require_plan: true } : {}),
      });
    case 'shutdown':
      return act(`I ask ${step.name} to shut down.`, 'shutdown_request', {
        teammate: step.name,
        ...(step.reason ? { reason: step.reason } : {}),
      });
    case 'list':
      return act('I look at the team.', 'list_teammates', {});
    case 'plan': {
      const topic = step.topic ? { topic: step.topic } : {};
      if (offered.has('request_plan'))
        return act(`I ask ${step.name} for a plan.`, 'request_plan', { teammate: step.name, ...topic });
      const content = `Please submit a plan with plan_approval${step.topic ? ` for ${step.topic}` : ''}, and change nothing before it is approved.`;
      return act(`I ask ${step.name} for a plan.`, 'send_message', { to: step.name, content });
    }
    case 'tell':
      return act(`I pass that on to ${step.name}.`, 'send_message', { to: step.name, content: step.text });
    case 'broadcast':
      return act('I tell the whole team.', 'broadcast', { content: step.text });
    case 'run':
      return act(`I run \`${step.command}\`.`, 'bash', {
        command: step.command,
        description: 'Asked for by the human',
      });
    case 'review':
      return undefined;
  }
}

function promptFor(step: Extract<Step, { do: 'spawn' }>): string {
  if (step.plan)
    return `Your task: ${step.task || 'add a GET /health route to the API, with a test'}. Submit a plan with plan_approval first and wait for the answer; change nothing before it is approved.`;
  if (step.task) return `Your task: ${step.task}. Report back when it is done.`;
  return `You are our ${step.role}. There is no task yet: say in one sentence that you are ready, then wait.`;
}

/** Decides a plan that waits, where the human has said how; the words are used once. */
function reviewMove(story: Story): Move | undefined {
  for (const [at, mail] of story.happenings.entries()) {
    if (mail.kind !== 'mail' || mail.type !== 'plan_approval_request' || mail.external) continue;
    if (callsAbout(story, mail.requestId).length > 0) continue;
    const review = instruction(story, mail);
    if (review?.approve === undefined) continue;
    // Words that came before the plan count while it is new; later the human is asked again.
    if (at < story.turnStart && !saidInThisTurn(story, review)) continue;
    const feedback = review.feedback || (review.approve ? approving(mail) : rejecting(mail));
    const verb = review.approve ? 'approve' : 'reject';
    return act(`${mail.from} has submitted a plan. I ${verb} it, as you asked.`, 'plan_approval', {
      request_id: mail.requestId,
      approve: review.approve,
      feedback,
    });
  }
  return undefined;
}

/** The newest words that say what to do with this plan: by its id, its author, or for any plan. */
function instruction(story: Story, mail: Mail): Review | undefined {
  for (let at = story.happenings.length - 1; at >= 0; at--) {
    const event = story.happenings[at];
    if (event?.kind !== 'words') continue;
    const reviews = understand(event.text, namesBefore(story, at)).filter((step) => step.do === 'review');
    const fits =
      reviews.find((step) => step.requestId === mail.requestId) ??
      reviews.find((step) => step.name === mail.from) ??
      reviews.find((step) => step.name === '' && step.requestId === '');
    if (!fits) continue;
    const used = story.happenings
      .slice(at)
      .some(
        (later) =>
          later.kind === 'call' && later.name === 'plan_approval' && planAuthor(story, later) === mail.from,
      );
    return used && fits.requestId !== mail.requestId ? undefined : fits;
  }
  return undefined;
}

function saidInThisTurn(story: Story, review: Review): boolean {
  return story.happenings
    .slice(story.turnStart)
    .some(
      (event) =>
        event.kind === 'words' &&
        understand(event.text, namesBefore(story)).some(
          (step) => step.do === 'review' && step.approve === review.approve && step.name === review.name,
        ),
    );
}

function callsAbout(story: Story, requestId: string): Call[] {
  return story.happenings.filter(
    (event): event is Call =>
      event.kind === 'call' && event.name === 'plan_approval' && argument(event, 'request_id') === requestId,
  );
}

function planAuthor(story: Story, call: Call): string {
  const id = argument(call, 'request_id');
  const mail = story.happenings.find((event) => event.kind === 'mail' && event.requestId === id);
  return mail?.kind === 'mail' ? mail.from : '';
}

function approving(mail: Mail): string {
  const file = /[\w./-]+\.(?:js|ts|mjs|json|md)\b/.exec(mail.body)?.[0];
  return `Approved. Keep to ${file ? `${file} and the other files` : 'the files'} the plan names, and report when the tests pass.`;
}

function rejecting(mail: Mail): string {
  const file = /[\w./-]+\.(?:js|ts|mjs|json|md)\b/.exec(mail.body)?.[0];
  return `Too much at once${file ? ` in ${file}` : ''}: split it, say how each step is tested and how it is taken back, then submit a smaller plan.`;
}

/** Somebody whose plan is to be decided, and whom only a roster can tell of: the human starts teammates too. */
function lookForAuthors(steps: Step[], story: Story, offered: ReadonlySet<string>): Move | undefined {
  if (!offered.has('list_teammates') || hasLooked(story)) return undefined;
  const isUnheard = steps.some(
    (step) => step.do === 'review' && step.name !== '' && !isTeammate(story, step.name),
  );
  return isUnheard ? act('I look at the team.', 'list_teammates', {}) : undefined;
}

function hasLooked(story: Story): boolean {
  return story.happenings
    .slice(story.turnStart)
    .some((event) => event.kind === 'call' && event.name === 'list_teammates' && !event.failed);
}

/** True for one that was started, wrote, or stands in a roster; that the human spoke of one makes none. */
function isTeammate(story: Story, name: string): boolean {
  return story.happenings.some((event) => {
    if (event.kind === 'mail') return event.from === name && !event.external;
    if (event.kind === 'words' || event.failed) return false;
    if (event.name === 'list_teammates') return listedIn(event).includes(name);
    return event.name === 'spawn_teammate' && argument(event, 'name') === name;
  });
}

/** The names in a roster that was read. */
function listedIn(call: Call): string[] {
  return [...(call.result ?? '').matchAll(/^\s+([a-z][\w-]*) \(/gm)].map((match) => match[1] ?? '');
}

/** What was said to wait for, so that the human knows it is not forgotten. */
function expected(steps: Step[], story: Story): string[] {
  return steps.flatMap((step) => {
    if (step.do !== 'review') return [];
    const seen = story.happenings.some(
      (event) =>
        event.kind === 'mail' &&
        event.type === 'plan_approval_request' &&
        (event.from === step.name || event.requestId === step.requestId) &&
        (step.approve === undefined || callsAbout(story, event.requestId).length > 0),
    );
    if (seen) return [];
    if (step.requestId) return [`I know no plan with the id ${step.requestId}.`];
    if (step.name && hasLooked(story) && !isTeammate(story, step.name))
      return [`There is no teammate named ${step.name}, so there is no plan to decide.`];
    const whose = step.name ? `${step.name}'s plan` : 'a plan';
    if (step.approve === undefined) return [`I will show you ${whose} when it comes; the decision is yours.`];
    return [`When ${whose} comes, I will ${step.approve ? 'approve' : 'reject'} it.`];
  });
}

/** Teammates that were named before, oldest first: spawned, or heard of. */
function namesBefore(story: Story, end = story.turnStart): string[] {
  const names = new Set<string>();
  const add = (name: string): void => {
    names.delete(name);
    if (name && name !== 'human' && name !== 'lead' && name !== 'runtime') names.add(name);
  };
  for (const event of story.happenings.slice(0, end)) {
    if (event.kind === 'mail' && !event.external) add(event.from);
    else if (event.kind === 'call') for (const key of ['name', 'teammate', 'to']) add(argument(event, key));
    else if (event.kind === 'words')
      for (const step of understand(event.text, [...names])) if ('name' in step) add(step.name);
  }
  // Those whose names stand in rosters that were read are known too, but were not spoken of last.
  const listed = story.happenings.flatMap((event) =>
    event.kind === 'call' && event.name === 'list_teammates' ? listedIn(event) : [],
  );
  return [...new Set([...listed.filter((name) => !names.has(name)), ...names])].map((name) =>
    oneLine(name, 32),
  );
}
