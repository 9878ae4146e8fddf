import assert from 'node:assert/strict';
import { createAnthropicModel } from '../../src/model/anthropic';
import { resolveCredentials } from '../../src/model/credentials';
import { createDemoModel } from '../../src/model/demo';
import {
  type LanguageModel,
  ModelError,
  type ModelRequest,
  type ModelStreamEvent,
} from '../../src/model/port';
import { createModelProvider, type ProviderName } from '../../src/model/router';
import { type ModelServer, startModelServer, text } from '../model-server';

const request: ModelRequest = {
  member: 'alice',
  system: '',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  tools: [],
};

describe('model router', () => {
  let provider: ProviderName;
  let stored: { key: string; baseUrl?: string } | undefined;
  let loads: number;
  let server: ModelServer;

  /** VS Code's own models. */
  let offered: string[];
  const vscodeModel = (label: string): LanguageModel => ({ ...createDemoModel({ chunkDelayMs: 0 }), label });

  beforeEach(async () => {
    offered = [];
    provider = 'auto';
    stored = undefined;
    loads = 0;
    server = await startModelServer({ brain: () => [text('hello')], key: 'key-two' });
  });
  afterEach(() => server.close());

  const make = () =>
    createModelProvider({
      getSettings: () => ({ provider }),
      getCredentials: async () => resolveCredentials({ env: {}, ...(stored ? { stored } : {}) }),
      findVscodeModel: async (model) =>
        offered.includes(model ?? offered[0] ?? '') ? vscodeModel(model ?? offered[0] ?? '') : undefined,
      loadAnthropic: async () => {
        loads += 1;
        return { createAnthropicModel };
      },
      env: {},
      demo: { chunkDelayMs: 0 },
    });
  const call = (model: LanguageModel, onEvent: (event: ModelStreamEvent) => void = () => undefined) =>
    model.call(request, onEvent, new AbortController().signal);
  const kind = (expected: string, message: RegExp) => (error: unknown) => {
    assert.ok(error instanceof ModelError);
    assert.equal(error.kind, expected);
    assert.match(error.message, message);
    return true;
  };

  it('without a key offers to set one or to run the demo, and loads nothing', async () => {
    await assert.rejects(call(make().model), kind('no_key', /Set API Key.*Run Demo/));
    provider = 'anthropic';
    await assert.rejects(call(make().model), kind('no_key', /Set API Key/));
    assert.equal(loads, 0);
  });

  it('runs the demo without loading the SDK', async () => {
    provider = 'demo';
    const { model } = make();
    assert.equal(model.isDemo, true);
    assert.equal((await call(model)).model, 'demo');
    assert.equal(model.label, 'Demo');
    assert.equal(loads, 0);
  });

  it('says what to do where VS Code offers no model', async () => {
    provider = 'vscode';
    await assert.rejects(call(make().model), kind('no_key', /VS Code offers no language model.*Set API Key/));
  });

  it('case 29: goes on with a new key at the next call', async () => {
    const { model } = make();
    stored = { key: 'key-one', baseUrl: server.url };
    await assert.rejects(call(model), kind('bad_key', /refused the key/));
    stored = { key: 'key-two', baseUrl: server.url };
    const replies = await Promise.all([call(model), call(model), call(model), call(model)]);
    assert.equal(replies.length, 4);
    assert.equal(server.requests.length, 5);
    assert.equal(model.isDemo, false);
  });

  it('lets members of one team speak through different providers, by the names of their models', async () => {
    stored = { key: 'key-two', baseUrl: server.url };
    offered = ['vscode:test/small'];
    const { resolve } = make();
    assert.equal((await resolve('vscode:test/small')).label, 'vscode:test/small');
    const own = await resolve('claude-of-its-own');
    assert.equal(own.label, 'claude-of-its-own');
    await call(own);
    assert.equal(server.requests[0]?.body?.model, 'claude-of-its-own');
    await assert.rejects(
      resolve('vscode:test/none'),
      kind('unknown_model', /no language model "vscode:test\/none"/),
    );
    provider = 'demo';
    assert.equal((await resolve('vscode:test/small')).label, 'Demo');
  });

  it('without any key takes the models of VS Code, and never in place of a key that cannot be used', async () => {
    offered = ['vscode:test/small'];
    assert.equal((await make().resolve()).label, 'vscode:test/small');
    assert.equal((await make().resolve('claude-of-its-own')).label, 'vscode:test/small');
    provider = 'anthropic';
    await assert.rejects(make().resolve(), kind('no_key', /No API key/));
    provider = 'auto';
    stored = { key: 'key-two', baseUrl: 'ftp://nowhere' };
    await assert.rejects(make().resolve(), kind('no_key', /base URL stored with the key cannot be used/));
    provider = 'vscode';
    assert.equal((await make().resolve()).label, 'vscode:test/small');
    await assert.rejects(make().resolve('gpt'), kind('unknown_model', /"gpt"/));
  });

  it('counts what another endpoint answers apart from what Anthropic calls by that name', async () => {
    stored = { key: 'key-two', baseUrl: server.url };
    const names: (string | undefined)[] = [];
    const model = await make().resolve('m');
    const reply = await call(model, (event) => {
      if (event.type === 'counting') names.push(event.soFar().countedAs);
    });
    names.push(reply.countedAs);
    const name = `${new URL(server.url).host}/m`;
    assert.deepEqual(names, [name, name], 'as well where the call would break off');
  });

  it('keeps one client while nothing changes', async () => {
    stored = { key: 'key-two', baseUrl: server.url };
    const { resolve } = make();
    assert.equal(await resolve(), await resolve());
    assert.equal(loads, 1);
  });
});
