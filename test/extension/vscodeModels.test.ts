// VS Code's own language models, from a provider of a test extension. The API for providers is stable since VS Code
// 1.104, so this runs on the newest host; what of it needs no provider is tested in test/unit/model-lm.test.ts.
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { callsOf, freshTeam, gate, rules, startModel, tellLead } from './support/model';
import { activate, type HandshakeApi, logged, rejection, run, setSetting } from './support/window';

interface SentRequest {
  model: string;
  messages: readonly { role: number; content: readonly unknown[] }[];
  options: { tools?: readonly { name: string }[]; toolMode: number };
  token: vscode.CancellationToken;
}

interface TestModels {
  requests: SentRequest[];
  answer: (request: SentRequest) => Promise<readonly unknown[]>;
}

const say = (value: string) => new vscode.LanguageModelTextPart(value);
let calls = 0;
const callTool = (name: string, input: object) =>
  new vscode.LanguageModelToolCallPart(`call-${++calls}`, name, input);

/** The texts of a message, results of tools among them. */
function textsOf(message: SentRequest['messages'][number] | undefined): string[] {
  return (message?.content ?? []).flatMap((part) => {
    if (part instanceof vscode.LanguageModelTextPart) return [part.value];
    if (!(part instanceof vscode.LanguageModelToolResultPart)) return [];
    return part.content.flatMap((piece) =>
      piece instanceof vscode.LanguageModelTextPart ? [`result: ${piece.value}`] : [],
    );
  });
}

const isOf = (member: string) => (request: SentRequest) =>
  member === 'lead'
    ? textsOf(request.messages[0])[0]?.startsWith('You are the lead') === true
    : textsOf(request.messages[0])[0]?.startsWith(`You are ${member},`) === true;

describe("VS Code's own language models", () => {
  let api: HandshakeApi;
  let models: TestModels;

  before(async () => {
    api = await activate();
    const provider = vscode.extensions.getExtension<TestModels>('handshake-test.models');
    assert.ok(provider);
    models = await provider.activate();
    const offered = await vscode.lm.selectChatModels({ vendor: 'handshake-test' });
    assert.equal(offered.length, 2);
  });
  beforeEach(async () => {
    models.requests = [];
    models.answer = async () => [say('Noted.')];
    await freshTeam();
    await setSetting('teammateModel', undefined);
  });

  const lastOf = (member: string): SentRequest => {
    const found = models.requests.findLast(isOf(member));
    assert.ok(found, `${member} did not call`);
    return found;
  };

  it('speak for the team where there is no key, and their tokens are marked as estimated', async () => {
    models.answer = async () => [say('Hello '), say('there.')];
    await tellLead('Say hello.');
    const request = lastOf('lead');
    assert.equal(request.messages[0]?.role, vscode.LanguageModelChatMessageRole.User);
    assert.match(textsOf(request.messages[1]).join(), /Say hello\./);
    assert.ok(request.options.tools?.some(({ name }) => name === 'bash'));
    await logged(/lead used \d+ input, .* tokens of vscode:handshake-test\/small \(estimated\)/);
    await logged(/lead: Hello there\./);
  });

  it('call tools and read their results', async () => {
    models.answer = async ({ messages }) =>
      textsOf(messages.at(-1)).some((each) => each.startsWith('result: '))
        ? [say('Read.')]
        : [say('I read.'), callTool('read_file', { path: 'README.md' })];
    await tellLead('Read the README.');
    const last = lastOf('lead').messages.at(-1);
    assert.match(textsOf(last).join(), /result: .*/);
    const part = last?.content[0];
    assert.ok(part instanceof vscode.LanguageModelToolResultPart);
    assert.match(part.callId, /^call-\d+$/);
  });

  it('stand beside an endpoint in one team: each member speaks through its own', async () => {
    const server = await startModel({ brain: rules({}) });
    try {
      await run('spawnTeammate', {
        name: 'olga',
        role: 'coder',
        prompt: 'Say hello.',
        model: 'vscode:handshake-test/org/big',
      });
      await api.whenIdle();
      await tellLead('Say hello, too.');
      assert.equal(lastOf('olga').model, 'org/big');
      assert.equal(callsOf(server, 'olga').length, 0);
      assert.ok(callsOf(server, 'lead').length > 0);
      assert.equal(models.requests.some(isOf('lead')), false);
      await setSetting('teammateModel', 'vscode:handshake-test/small');
      await run('spawnTeammate', { name: 'pia', role: 'coder', prompt: 'Say hello.' });
      await api.whenIdle();
      assert.equal(lastOf('pia').model, 'small');
      assert.deepEqual(server.problems, []);
    } finally {
      await server.close();
      await run('clearApiKey');
    }
  });

  it('are chosen by the command, and named where they are gone', async () => {
    await run('selectModel', 'vscode:handshake-test/org/big');
    await tellLead('Say hello.');
    assert.equal(lastOf('lead').model, 'org/big');
    await run('selectModel', 'vscode:handshake-test/none');
    const error = await rejection(api.sendToLead('Again.'));
    assert.equal(error.kind, 'unknown_model');
    assert.match(error.message, /VS Code offers no language model "vscode:handshake-test\/none"/);
    await setSetting('model', undefined);
  });

  it('fail in plain words', async () => {
    models.answer = async () => {
      throw vscode.LanguageModelError.Blocked('The plan is used up');
    };
    const error = await rejection(api.sendToLead('Say hello.'));
    assert.equal(error.kind, 'quota');
    assert.match(
      error.message,
      /Small \(vscode:handshake-test\/small\) refused the call: The plan is used up/,
    );
    models.answer = async () => [say('Fine now.')];
    await tellLead('Go on.');
    await logged(/lead: Fine now\./);
  });

  it('are told when the human interrupts', async () => {
    const begun = gate();
    const cancelled = gate();
    models.answer = async ({ token }) => {
      begun.open();
      await new Promise<void>((stop) => token.onCancellationRequested(() => stop()));
      cancelled.open();
      return [];
    };
    const turn = api.sendToLead('Think for ever.');
    await begun.opened;
    await run('interrupt', 'lead');
    await cancelled.opened;
    await turn;
    models.answer = async () => [say('Back again.')];
    await tellLead('Are you there?');
    await logged(/lead: Back again\./);
  });

  it('are offered one tool alone where it has to be that one', async () => {
    await run('spawnTeammate', { name: 'rosa', role: 'coder', prompt: 'Wait.' });
    await api.whenIdle();
    models.answer = async (request) => {
      const { tools = [] } = request.options;
      const id = /request_id="([0-9a-f]{8})"/.exec(textsOf(request.messages.at(-1)).join())?.[1];
      const isForced = tools.length === 1 && tools[0]?.name === 'shutdown_response';
      return isForced ? [callTool('shutdown_response', { request_id: id, approve: true })] : [say('ok')];
    };
    await run('requestShutdown', 'rosa');
    await api.whenIdle();
    const forced = models.requests.filter(({ options }) => options.tools?.length === 1);
    assert.equal(forced.length, 1);
    assert.equal(forced[0]?.options.toolMode, vscode.LanguageModelChatToolMode.Required);
    assert.equal(api.team().members.find(({ name }) => name === 'rosa')?.status, 'shutdown');
  });
});
