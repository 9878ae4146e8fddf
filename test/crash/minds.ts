import { chainOfTasks, ownTasks } from './boardMinds';
import { isDone, MAX_ATTEMPTS, type Mind, type Wish } from './brain';
import { type Call, type Heard, isCutOff } from './heard';

/** The answer of a model that streams until it is stopped. */
export const WAITS_FOR_EVER: Wish = { name: '', input: {} };

const GONE = /has shut down|is not in the team|There is no member/;

/** The first part of the wishes that has to be done before the next one is thought of. */
export function inOrder(heard: Heard, ...stages: (() => Wish[])[]): Wish[] {
  for (const stage of stages) {
    const open = stage().filter((wish) => !isDone(wish, heard));
    if (open.length > 0) return open;
  }
  return [];
}

export function spawn(name: string, requirePlan: boolean): Wish {
  const input = { name, role: 'coder', prompt: `Begin, ${name}.`, require_plan: requirePlan };
  return { name: 'spawn_teammate', input, doneBy: /already in the team/ };
}

/** Alice and bob; the human wants her to plan. */
function propose(requirePlan: boolean): Wish {
  const members = ['alice', 'bob'].map((name) => ({
    name,
    role: 'coder',
    prompt: `Begin, ${name}.`,
    require_plan: requirePlan && name === 'alice',
  }));
  return { name: 'propose_team', input: { members }, doneBy: /already in the team/ };
}

export function say(to: string, content: string): Wish {
  return { name: 'send_message', input: { to, content }, doneBy: GONE };
}

function submit(plan: string): Wish {
  return { name: 'plan_approval', input: { plan } };
}

/** Submitted again when a plan is asked for once more: the work has changed, and the old plan does not count. */
export function submitAsAsked(heard: Heard, plan: string): Wish {
  const asked = Math.max(-1, ...mailOf(heard, 'plan_request').map(({ turn }) => turn));
  return {
    ...submit(plan),
    matches: ({ name, input, turn }) => name === 'plan_approval' && input.plan === plan && turn > asked,
  };
}

function answerShutdown(requestId: string, approve: boolean): Wish {
  const input = { request_id: requestId, approve, reason: approve ? 'All is saved.' : 'Not yet.' };
  return { name: 'shutdown_response', input, doneBy: /was already|was withdrawn/ };
}

export function mailOf(heard: Heard, type: string, from?: string) {
  return heard.mail.filter((mail) => mail.type === type && (from === undefined || mail.from === from));
}

/**
 * Writes a file, looking first where an attempt was cut off: it may have been written.
 * @param giveUp a result after which it is not tried again
 */
export function write(heard: Heard, path: string, giveUp?: RegExp): Wish[] {
  const step = `step ${path}`;
  const isAbout = (call: Call): boolean =>
    (call.name === 'write_file' || call.name === 'read_file') && call.input.path === path;
  const calls = heard.calls.filter(isAbout);
  if (calls.length > MAX_ATTEMPTS)
    throw new Error(`${path} cannot be written: ${calls.at(-1)?.result ?? ''}`);
  const last = calls.at(-1);
  const again: Wish = {
    name: 'write_file',
    input: { path, content: `${step}\nby <id>\n` },
    matches: () => false,
  };
  if (last === undefined) return [again];
  if (last.name === 'read_file') {
    if (isCutOff(last)) return [{ name: 'read_file', input: { path }, matches: () => false }];
    return last.result?.includes(step) ? [] : [again];
  }
  if (!last.failed || giveUp?.test(last.result ?? '')) return [];
  return isCutOff(last) ? [{ name: 'read_file', input: { path }, matches: () => false }] : [again];
}

/** Proposes alice and bob, starts erin, decides their plans, and asks bob to go until he does. */
const lead: Mind = (heard) => {
  const aliceIsDone = mailOf(heard, 'message', 'alice').length > 0;
  const bobReported = mailOf(heard, 'result', 'bob').length > 0;
  const refusedToGo = mailOf(heard, 'shutdown_response', 'bob').some(({ approve }) => approve === false);
  const decide = (): Wish[] =>
    mailOf(heard, 'plan_approval_request').flatMap(({ requestId, content }) => {
      if (!content.startsWith('First') && !content.startsWith('Third')) return [];
      const approve = content.startsWith('Third');
      const input = { request_id: requestId, approve, feedback: approve ? 'Good.' : 'Smaller.' };
      return [{ name: 'plan_approval', input, doneBy: /was already|was withdrawn/ }];
    });
  const askToGo = (reason: string): Wish => ({
    name: 'shutdown_request',
    input: { teammate: 'bob', reason },
    doneBy: GONE,
  });
  if (!heard.words.includes('Begin.')) return [];
  const proposals = mailOf(heard, 'permission_response');
  const isStarted = proposals.some(({ approve }) => approve === true);
  return inOrder(
    heard,
    () => [propose(false)],
    () => (proposals.some(({ approve }) => approve === false) ? [propose(true)] : []),
    () => (isStarted ? [spawn('erin', false)] : []),
    () => (isStarted ? [{ name: 'broadcast', input: { content: 'Welcome.' } }] : []),
    ...(isStarted ? chainOfTasks(heard) : []),
    decide,
    () => (aliceIsDone && bobReported ? [askToGo('Enough.')] : []),
    // One after the other: said again, should it fail, it must find him still there.
    () => (refusedToGo ? [say('bob', 'Then finish.')] : []),
    () => (refusedToGo ? [askToGo('Now really.')] : []),
  );
};

/** Has a plan rejected, one superseded and one approved, and then writes. */
const alice: Mind = (heard) => {
  const answers = mailOf(heard, 'plan_approval_response');
  const rejected = answers.some(({ approve }) => approve === false);
  const approved = answers.some(({ approve }) => approve === true);
  const third = submitAsAsked(heard, 'Third: in one part.');
  return inOrder(
    heard,
    () => (rejected ? [] : [submitAsAsked(heard, 'First: everything at once.')]),
    // It will be superseded, so that it need not be submitted twice.
    () =>
      rejected && !approved
        ? [{ ...submit('Second: in two parts.'), doneBy: /./, cutOff: 'leave' }, third]
        : [],
    () => (approved ? [...write(heard, 'a1.txt'), ...write(heard, 'a2.txt')] : []),
    // The lead lets bob go when it hears of her.
    () => (approved ? [say('bob', 'From alice.')] : []),
    () => (approved ? [say('lead', 'Alice has written.')] : []),
    () => mailOf(heard, 'shutdown_request').map(({ requestId }) => answerShutdown(requestId, true)),
    () => ownTasks(heard),
  );
};

/** Asks for permissions: one is given, one refused, one ended by a message of the human. Goes when asked twice. */
const bob: Mind = (heard) => {
  // A later namesake has other things to do.
  if (heard.mail.some(({ content }) => content.includes('Second bob.')))
    return inOrder(heard, () => ownTasks(heard));
  const asked = mailOf(heard, 'shutdown_request');
  return inOrder(
    heard,
    () => asked.map(({ requestId }, index) => answerShutdown(requestId, index > 0)),
    () => [...write(heard, 'b1.txt'), ...write(heard, 'b2.txt', /^Refused/)],
    () => [{ name: 'bash', input: { command: 'make slow' }, doneBy: /^Not run/, cutOff: 'leave' }],
    () => ownTasks(heard),
  );
};

/** Answers what it hears, plans when asked to, and leaves only when its answer is forced. */
const carol: Mind = (heard, forced) => {
  const heardOf = ['Foreign one.', 'All hands.'].filter((content) =>
    heard.mail.some((mail) => mail.content === content),
  );
  const isPlanWanted = mailOf(heard, 'plan_request').length > 0;
  const approved = mailOf(heard, 'plan_approval_response').some(({ approve }) => approve === true);
  const shutdown = mailOf(heard, 'shutdown_request').at(-1);
  const hasBegunToGo = heard.calls.some(({ name }) => name === 'shutdown_response');
  if ((forced !== undefined || hasBegunToGo) && shutdown) return [answerShutdown(shutdown.requestId, true)];
  return inOrder(
    heard,
    () => heardOf.map((content) => say('lead', `Carol heard: ${content}`)),
    () => (isPlanWanted && !approved ? [submitAsAsked(heard, 'Tidy up.')] : []),
    () => (approved ? write(heard, 'c1.txt') : []),
    // An approval is for the work it was asked for, which a task that is completed ends.
    () => (isPlanWanted && !approved ? [] : ownTasks(heard)),
  );
};

const dave: Mind = () => [WAITS_FOR_EVER];

/** Has nothing to do but what the board gives, and is there to the end. */
const erin: Mind = (heard) => inOrder(heard, () => ownTasks(heard));

export const minds: Readonly<Record<string, Mind>> = { lead, alice, bob, carol, dave, erin };
