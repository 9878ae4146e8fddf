// A team whose words come over HTTP from the project's own model server, through the real SDK.
import assert from 'node:assert/strict';
import {
  type Brain,
  type MessagesBody,
  type ModelServer,
  type ModelServerOptions,
  type RecordedRequest,
  type ReplyBlock,
  startModelServer,
  text,
  toolUse,
  type WireBlock,
} from '../../model-server';
import { activate, run, setSetting } from './window';

export const KEY = 'sk-ant-test-key-of-the-stored-secret';

const silent: Brain = ({ member }) => {
  throw new Error(`Nobody expected a model call of ${member} now`);
};

/** Starts a model server and makes it the one the team speaks to. */
export async function startModel(options: Partial<ModelServerOptions> = {}): Promise<ModelServer> {
  const server = await startModelServer({ brain: silent, key: KEY, ...options });
  await run('setApiKey', KEY, server.url);
  return server;
}

/** Stops everybody and empties the roster and the lead's conversation, as a person does for a fresh start. */
export async function freshTeam(): Promise<void> {
  const api = await activate();
  await run('stopAll');
  for (const { name, status } of api.team().members) if (status !== 'shutdown') await run('forceStop', name);
  await api.whenIdle();
  await run('cleanUpTeam');
  await run('newConversation');
  for (const name of [
    'permissions.mode',
    'approvals.plan',
    'approvals.permission',
    'model',
    'provider',
    'baseUrl',
  ]) {
    await setSetting(name, undefined);
  }
}

/** Says something to the lead and waits until nothing runs any more. */
export async function tellLead(text: string): Promise<void> {
  const api = await activate();
  await api.sendToLead(text);
  await api.whenIdle();
}

/** The calls to the model that a member made, oldest first. */
export function callsOf(server: ModelServer, member: string): MessagesBody[] {
  return server.requests.flatMap((each) => (each.member === member && each.body ? [each.body] : []));
}

/** The blocks a member has been given since it last spoke. */
export function news(body: MessagesBody): WireBlock[] {
  const last = body.messages.at(-1);
  return last?.role === 'user' ? last.content : [];
}

export interface MailTag {
  from: string;
  type: string;
  requestId: string;
  approve: boolean;
  text: string;
}

/** The messages of the team among what a member has been given since it last spoke. */
export function mail(body: MessagesBody): MailTag[] {
  return texts(body).flatMap((text) => {
    const tag = /^<message ([^>]*)>\n([\s\S]*)\n<\/message>$/.exec(text);
    if (!tag) return [];
    const attribute = (name: string): string =>
      new RegExp(`\\b${name}="([^"]*)"`).exec(tag[1] ?? '')?.[1] ?? '';
    return [
      {
        from: attribute('from'),
        type: attribute('type'),
        requestId: attribute('request_id'),
        approve: attribute('approve') === 'true',
        text: tag[2] ?? '',
      },
    ];
  });
}

/** The texts among what a member has been given since it last spoke. */
export function texts(body: MessagesBody): string[] {
  return news(body).flatMap((block) => (block.type === 'text' ? [String(block.text)] : []));
}

/** The human's own words among them. */
export function words(body: MessagesBody): string {
  return texts(body)
    .filter((text) => !text.startsWith('<message '))
    .join('\n');
}

/** The tool results among what a member has been given since it last spoke. */
export function results(body: MessagesBody): { text: string; isError: boolean }[] {
  return news(body)
    .filter((block) => block.type === 'tool_result')
    .map((block) => ({ text: String(block.content), isError: block.is_error === true }));
}

/** The only result that a member has been given since it last spoke. */
export function result(body: MessagesBody | undefined): string {
  assert.ok(body, 'there was no such call');
  const [only, ...others] = results(body);
  assert.ok(only && others.length === 0, 'one result was expected');
  return only.text;
}

/** A call of this member whose newest results fit. */
export const answered =
  (member: string, fits: RegExp) =>
  ({ member: who, body }: RecordedRequest): boolean =>
    who === member && body !== undefined && results(body).some((each) => fits.test(each.text));

/** A promise that a test settles by hand, to hold a model back until something has happened. */
export function gate(): { opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

type Rule = (body: MessagesBody) => ReplyBlock[] | undefined | Promise<ReplyBlock[] | undefined>;

/** A brain of rules, one for each member. Where a member has none, or it gives nothing, the member ends its turn. */
export function rules(members: Record<string, Rule>): Brain {
  return async ({ member, body }) => (await members[member]?.(body)) ?? [text('Noted.')];
}

/** The tool calls a member has made so far in its conversation. */
export function calls(body: MessagesBody): string[] {
  return body.messages.flatMap((message) =>
    message.content.flatMap((block) => (block.type === 'tool_use' ? [String(block.name)] : [])),
  );
}

/** A rule for a teammate that submits one plan and then goes by `next`. */
export function plansFirst(next: Rule = () => undefined): Rule {
  return (body) =>
    calls(body).includes('plan_approval')
      ? next(body)
      : [toolUse('plan_approval', { plan: '# Plan\n\nWrite `notes.md`.', files: ['notes.md'] })];
}

/** The decision on a plan among what a member has been given since it last spoke. */
export function planDecision(body: MessagesBody): MailTag | undefined {
  return mail(body).find((message) => message.type === 'plan_approval_response');
}
