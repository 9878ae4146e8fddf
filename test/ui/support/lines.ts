// The lines that members speak in the scenarios.
import { type MessagesBody, type ReplyBlock, type ScriptStep, toolUse } from '../../model-server';

/** The lead starts a teammate. */
export const spawn = (name: string, options: { role?: string; prompt?: string; plan?: boolean } = {}) =>
  toolUse('spawn_teammate', {
    name,
    role: options.role ?? 'coder',
    prompt: options.prompt ?? 'Wait for word.',
    require_plan: options.plan ?? false,
  });

/** A teammate submits a plan. */
export const submit = (plan: string, scope: { files?: string[]; commands?: string[] } = {}): ReplyBlock =>
  toolUse('plan_approval', { plan, ...scope });

/** A member runs a command. */
export const bash = (command: string, description?: string): ReplyBlock =>
  toolUse('bash', { command, ...(description === undefined ? {} : { description }) });

/** A teammate answers the newest shutdown request it was sent. */
export const answerShutdown =
  (approve: boolean, reason?: string): ScriptStep =>
  ({ body }) => [
    toolUse('shutdown_response', {
      request_id: newestRequest(body, 'shutdown_request'),
      approve,
      ...(reason === undefined ? {} : { reason }),
    }),
  ];

/** The lead decides the newest plan it was sent. */
export const decidePlan =
  (approve: boolean, feedback?: string): ScriptStep =>
  ({ body }) => [
    toolUse('plan_approval', {
      request_id: newestRequest(body, 'plan_approval_request'),
      approve,
      ...(feedback === undefined ? {} : { feedback }),
    }),
  ];

/** The texts a member has been given since it last spoke: words, mail and results. */
export function newsOf(body: MessagesBody | undefined): string {
  const last = body?.messages.at(-1);
  if (last?.role !== 'user') return '';
  return last.content.map((block) => String(block.text ?? block.content ?? '')).join('\n');
}

function newestRequest(body: MessagesBody, type: string): string {
  const texts = body.messages.flatMap(({ content }) => content.map((block) => String(block.text ?? '')));
  const ids = [...texts.join('\n').matchAll(new RegExp(`type="${type}" request_id="([0-9a-f]{8})"`, 'g'))];
  const id = ids.at(-1)?.[1];
  if (id === undefined) throw new Error(`No ${type} has come`);
  return id;
}

/** A promise that a test settles by hand, to hold a member back until something has happened. */
export function held(): { until: Promise<void>; release(): void } {
  let release = (): void => undefined;
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { until, release };
}
