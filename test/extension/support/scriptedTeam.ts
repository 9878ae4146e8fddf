// A model, scripted by rules: what a lead and its teammates say to the sentences of the tutorial.
import { type Brain, type MessagesBody, type ReplyBlock, text, toolUse } from '../../model-server';
import { mail, results, words } from './model';

export const FEEDBACK = 'Too much in one step: split the plan and say how each part is tested.';

const ROUTE =
  "  { method: 'GET', path: '/health', handler: () => ({ status: 200, body: { status: 'ok' } }) },";
const HEALTH_TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { route } from '../src/router.js';

test('the health route answers', () => {
  assert.equal(route({ method: 'GET', path: '/health' }).status, 200);
});
`;

export const scriptedTeam: Brain = ({ member, body }) =>
  member === 'lead' ? leadSays(body) : teammateSays(body);

function leadSays(body: MessagesBody): ReplyBlock[] {
  const said = words(body);
  if (/Spawn alice/.test(said)) {
    return [
      text('I start alice and then ask her to shut down.'),
      spawn('alice', 'coder', 'Wait for work.', false),
      toolUse('shutdown_request', { teammate: 'alice' }),
    ];
  }
  if (/List teammates/.test(said)) return [toolUse('list_teammates')];
  if (/Spawn bob/.test(said)) return [spawn('bob', 'coder', 'Refactor the router. It is risky.', true)];
  if (/Spawn charlie/.test(said)) return [spawn('charlie', 'coder', 'Add a GET /health route.', true)];
  const plan = mail(body).find((message) => message.type === 'plan_approval_request');
  if (plan && !hasReviewed(body, plan.from)) {
    const approve = plan.from === 'charlie';
    const answer = { request_id: plan.requestId, approve };
    return [toolUse('plan_approval', approve ? answer : { ...answer, feedback: FEEDBACK })];
  }
  const seen = results(body).map((each) => each.text);
  return [text(seen.length > 0 ? `Done. ${seen.join(' ')}` : 'Noted.')];
}

const spawn = (name: string, role: string, prompt: string, plan: boolean): ReplyBlock =>
  toolUse('spawn_teammate', { name, role, prompt, require_plan: plan });

/** The lead decides one plan of each teammate; a later one it leaves to the human. */
function hasReviewed(body: MessagesBody, author: string): boolean {
  const plans = body.messages.flatMap((message) =>
    message.content.filter((block) =>
      String(block.text ?? '').includes(`from="${author}" type="plan_approval_request"`),
    ),
  );
  return plans.length > 1;
}

function teammateSays(body: MessagesBody): ReplyBlock[] {
  const messages = mail(body);
  const shutdown = messages.find((message) => message.type === 'shutdown_request');
  if (shutdown) return [toolUse('shutdown_response', { request_id: shutdown.requestId, approve: true })];
  const decision = messages.find((message) => message.type === 'plan_approval_response');
  if (decision?.approve) {
    return [
      toolUse('edit_file', {
        path: 'src/router.js',
        old_text: 'const routes = [\n',
        new_text: `const routes = [\n${ROUTE}\n`,
      }),
      toolUse('write_file', { path: 'test/health.test.js', content: HEALTH_TEST }),
    ];
  }
  if (decision) return [toolUse('write_file', { path: 'forbidden.md', content: 'No plan allows this.\n' })];
  const wantsPlan =
    messages.some((message) => message.type === 'plan_request') ||
    (messages.length > 0 && body.system.includes('A plan is required'));
  if (wantsPlan) {
    return [
      toolUse('plan_approval', {
        plan: '# Plan\n\n1. Change `src/router.js`.',
        files: ['src/**', 'test/**'],
      }),
    ];
  }
  const failed = results(body).some((each) => each.isError);
  return [text(failed ? 'I was not allowed to write and wait for word.' : 'Done.')];
}
