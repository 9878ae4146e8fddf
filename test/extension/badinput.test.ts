// What can be wrong outside of Handshake: each gets words that name what failed and what to do, on the
// member and where the human looks, and nothing is lost.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { type Brain, http, type ModelServer, startModelServer, text, toolUse } from '../model-server';
import { memberInConfig, readConfig, readLog, teamFile } from './support/files';
import {
  answered,
  calls,
  callsOf,
  freshTeam,
  KEY,
  mail,
  results,
  rules,
  startModel,
  tellLead,
  words,
} from './support/model';
import {
  activate,
  type HandshakeApi,
  logged,
  pending,
  rejection,
  request,
  run,
  runForText,
  setSetting,
  transcript,
} from './support/window';

const completion = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
});

describe('bad input', () => {
  let api: HandshakeApi;
  let server: ModelServer;

  before(async () => {
    api = await activate();
    server = await startModel({ models: ['claude-sonnet-5-5', 'claude-test-1'] });
  });
  after(() => server.close());

  beforeEach(async () => {
    server.setKey(KEY);
    server.setBrain(rules({}));
    await freshTeam();
    await run('setApiKey', KEY, server.url);
    server.requests.length = 0;
    server.problems.length = 0;
  });

  describe('from the source of words', () => {
    interface Trouble {
      name: string;
      kind: string;
      /** What the message has to say: what failed, with which input, what to do. */
      says: RegExp[];
      bringAbout(): Promise<void>;
      /** What the human does about it. */
      mend(): Promise<void>;
    }

    const answers = (name: string, brain: Brain, ...says: RegExp[]): Trouble => ({
      name,
      kind: 'wrong_protocol',
      says: [
        /^http:\/\/127\.0\.0\.1:\d+ answered, but not as the Anthropic Messages API does/,
        /Check the base URL/,
        ...says,
      ],
      bringAbout: async () => server.setBrain(brain),
      mend: async () => server.setBrain(rules({})),
    });

    const troubles: Trouble[] = [
      {
        name: 'no key',
        kind: 'no_key',
        says: [/^No API key is set\./, /Run "Handshake: Set API Key"/, /ANTHROPIC_API_KEY/, /demo/],
        bringAbout: async () => void (await run('clearApiKey')),
        mend: async () => void (await run('setApiKey', KEY, server.url)),
      },
      {
        name: 'a wrong key',
        kind: 'bad_key',
        says: [
          /^http:\/\/127\.0\.0\.1:\d+ refused the key/,
          /401 invalid x-api-key/,
          /Run "Handshake: Set API Key"/,
        ],
        bringAbout: async () => server.setKey('the-key-of-another-day'),
        mend: async () => void (await run('setApiKey', 'the-key-of-another-day', server.url)),
      },
      {
        name: 'an endpoint that nobody listens at',
        kind: 'unreachable',
        says: [
          /^http:\/\/127\.0\.0\.1:\d+ could not be reached/,
          /nothing is listening at 127\.0\.0\.1:\d+ \(ECONNREFUSED\)/,
          /Check that the endpoint runs/,
        ],
        bringAbout: async () => {
          const gone = await startModelServer({ brain: rules({}) });
          await gone.close();
          await run('setApiKey', KEY, gone.url);
        },
        mend: async () => void (await run('setApiKey', KEY, server.url)),
      },
      {
        name: 'an unknown model',
        kind: 'unknown_model',
        says: [
          /does not know the model "claude-of-yesterday"/,
          /"Handshake: Select Model" \(setting handshake\.model\)/,
        ],
        bringAbout: async () => void (await run('selectModel', 'claude-of-yesterday')),
        mend: async () => void (await run('selectModel', 'claude-test-1')),
      },
      answers('a web page', () => http(200, '<!doctype html><title>Sign in</title>'), /200 with text\/html/),
      answers(
        'the answer of another API',
        () => http(200, completion, 'application/json'),
        /chat\.completion/,
      ),
      answers('an address without such an API', () => http(404, '<h1>Not Found</h1>'), /404 a web page/),
    ];

    for (const { name, kind, says, bringAbout, mend } of troubles) {
      it(`${name}: the lead says what failed and what to do, keeps the words, and goes on`, async () => {
        await bringAbout();
        const said = `Look at the tests (${name}).`;
        const error = await rejection(api.sendToLead(said));
        assert.equal(error.kind, kind);
        for (const part of says) assert.match(error.message, part);
        assert.equal(error.message.includes(KEY), false, 'no message holds a key');
        await api.whenIdle();
        assert.ok((await transcript('lead')).includes(said));
        // The last pattern is the one that tells this trouble from the others.
        await logged(new RegExp(`\\[error\\] lead: ${kind}: .*${says.at(-1)?.source}`));
        const failed = (await readLog()).findLast((entry) => entry.event === 'turn_failed');
        assert.deepEqual([failed?.member, failed?.kind, failed?.text], ['lead', kind, error.message]);

        await mend();
        await tellLead('Go on now.');
        const last = JSON.stringify(callsOf(server, 'lead').at(-1)?.messages);
        assert.ok(last.includes(said) && last.includes('Go on now.'), 'the lead has both');
      });

      const awaitsKey = kind === 'no_key' || kind === 'bad_key';
      const ends = awaitsKey
        ? 'waits, and with a key goes on by itself'
        : 'is marked failed with the reason, and goes on with its work';
      it(`${name}: a teammate ${ends}`, async () => {
        await bringAbout();
        const prompt = `Count the files (${name}).`;
        await run('spawnTeammate', { name: 'dana', role: 'coder', prompt });
        await api.whenIdle();
        const { status, reason = '' } = await memberInConfig('dana');
        if (awaitsKey) {
          assert.equal(status, 'waiting');
          await logged(new RegExp(`\\[error\\] dana: ${kind}: .*${says.at(-1)?.source}`));
        } else {
          assert.equal(status, 'failed');
          for (const part of says) assert.match(reason, part);
          assert.match(await runForText('showTeam'), /^ {2}dana \(coder\): failed \(.{20,}\)$/m);
          const told = (await readLog()).findLast((entry) => entry.type === 'error' && entry.to === 'lead');
          assert.equal(told?.content, `dana could not go on: ${reason}`);
        }

        await mend();
        if (awaitsKey)
          await server.waitForRequest(
            ({ member, body }) => member === 'dana' && (JSON.stringify(body) ?? '').includes(prompt),
          );
        await run('sendMessage', 'dana', 'Go on now.');
        await api.whenIdle();
        const last = JSON.stringify(callsOf(server, 'dana').at(-1)?.messages);
        assert.ok(last.includes(prompt) && last.includes('Go on now.'), 'dana has both');
        assert.deepEqual(
          [(await memberInConfig('dana')).status, (await memberInConfig('dana')).reason],
          ['idle', undefined],
        );
      });
    }
  });

  describe('from a model that answers in prose', () => {
    it('case 03: a shutdown request: asked once more with that tool alone, then shown as unanswered', async () => {
      server.setBrain(rules({ dana: () => [text('ok')] }));
      await run('spawnTeammate', { name: 'dana', role: 'coder', prompt: 'Wait.' });
      await api.whenIdle();
      await run('requestShutdown', 'dana');
      await api.whenIdle();
      const { requestId } = await pending('shutdown');
      const choices = callsOf(server, 'dana').map((body) => body.tool_choice?.name);
      assert.deepEqual(choices, [undefined, undefined, 'shutdown_response']);
      await logged(new RegExp(`dana answered the shutdown request ${requestId} in prose.*Force Stop`));
      assert.match(await runForText('showInbox'), new RegExp(`${requestId} Shutdown of dana`));
      await run('forceStop', 'dana');
      await api.whenIdle();
      assert.equal((await request(requestId)).status, 'cancelled');
      assert.equal((await memberInConfig('dana')).status, 'shutdown');
      await run('cleanUpTeam');
      assert.deepEqual(api.team().members, []);
    });

    it('a plan that is required: asked once more, then told; it may still change nothing', async () => {
      server.setBrain(
        rules({
          dana: (body) =>
            calls(body).length === 0
              ? [toolUse('write_file', { path: 'x.md', content: 'x' })]
              : [text('My plan is to write.')],
        }),
      );
      await run('spawnTeammate', { name: 'dana', role: 'coder', prompt: 'Write.', requirePlan: true });
      await server.waitForRequest(answered('dana', /^Blocked: plan status is required\./));
      await api.whenIdle();
      const reminders = callsOf(server, 'dana').filter((body) =>
        mail(body).some((m) => m.type === 'plan_request'),
      );
      assert.equal(reminders.length, 1);
      await logged(/dana ended its turn without submitting a plan.*ask for a plan again/);
    });
  });

  describe('in the settings', () => {
    it('takes a budget that stands there as text, and says once of one that nobody can mean', async () => {
      try {
        await setSetting('tokenBudget', '100000.5');
        // Below what is allowed already it raises nothing; without a budget it would be refused.
        await run('raiseBudget', 'team', 100);
        await setSetting('tokenBudget', -1);
        await logged(/handshake\.tokenBudget cannot be understood: it is -1, /);
        const { message } = await rejection(run('raiseBudget', 'team', 100));
        assert.match(message, /There is no token budget to raise/);
      } finally {
        await setSetting('tokenBudget', undefined);
      }
    });
  });

  describe('in names, ids and arguments', () => {
    const names: [string, RegExp][] = [
      ['lead', /'lead' is reserved \(.*\)\. Choose another name\./],
      ['Human', /'Human' is reserved/],
      ['all', /'all' is reserved/],
      ['9lives', /'9lives' is not a teammate's name\. A name starts with a letter/],
      ['../up', /'\.\.\/up' is not a teammate's name/],
      ['two words', /'two words' is not a teammate's name/],
      ['a'.repeat(33), /is not a teammate's name/],
      ['', /A teammate needs a name, such as alice\./],
    ];

    it('refuses reserved and malformed names from the human and from the lead', async () => {
      for (const [name, says] of names) {
        const error = await rejection(run('spawnTeammate', { name, role: 'coder', prompt: 'Work.' }));
        assert.match(error.message, says);
      }
      const spawns = names.map(([name]) =>
        toolUse('spawn_teammate', { name, role: 'coder', prompt: 'Work.' }),
      );
      server.setBrain(rules({ lead: (body) => (words(body) === '' ? undefined : spawns) }));
      await tellLead('Start them all.');
      const told = results(callsOf(server, 'lead').at(-1) ?? assert.fail());
      assert.equal(told.length, names.length);
      told.forEach(({ text: answer, isError }, index) => {
        assert.equal(isError, true);
        assert.match(answer, /^Error: /);
        assert.match(answer, names[index]?.[1] ?? /never/);
      });
      assert.deepEqual(api.team().members, []);
      assert.deepEqual((await readConfig()).members, []);
    });

    it('refuses a name that is taken, whatever its case', async () => {
      await run('spawnTeammate', { name: 'Dana', role: 'coder', prompt: 'Work.' });
      assert.equal(api.team().members[0]?.name, 'dana');
      const error = await rejection(run('spawnTeammate', { name: 'DANA', role: 'coder', prompt: 'Work.' }));
      assert.match(error.message, /'dana' is already in the team \(status: .*\)\. Send a message instead\./);
    });

    it('case 14: names the members when a recipient does not exist, and makes no inbox', async () => {
      await run('spawnTeammate', { name: 'dana', role: 'coder', prompt: 'Work.' });
      await api.whenIdle();
      for (const name of ['reveiwer', '../x']) {
        const error = await rejection(run('sendMessage', name, 'Hello.'));
        assert.match(error.message, /There is no member '.*'\. Members: lead, dana\./);
      }
      const inboxes = (await readdir(teamFile('inbox'))).filter((file) => !file.startsWith('dana'));
      await run('sendMessage', 'LEAD', 'Hello.');
      await api.whenIdle();
      assert.match(words(callsOf(server, 'lead').at(-1) ?? assert.fail()), /Hello\./);
      assert.equal(
        inboxes.some((file) => /reveiwer|x\.jsonl/.test(file)),
        false,
      );
    });

    it('refuses an unknown request id by the API, by commands and by both kinds of tools', async () => {
      const attempts = [
        () => api.decide('deadbeef', { approve: true }),
        () => run('approve', 'deadbeef'),
        () => run('reject', 'deadbeef', 'No.'),
        () => run('review', 'deadbeef'),
      ];
      for (const attempt of attempts)
        assert.match((await rejection(attempt())).message, /Unknown request_id 'deadbeef'/);
      assert.equal((await rejection(api.decide('deadbeef', { approve: true }))).code, 'unknown_request');
      const answer = { request_id: 'deadbeef', approve: true };
      server.setBrain(
        rules({
          lead: (body) =>
            words(body) === ''
              ? undefined
              : [toolUse('plan_approval', answer), toolUse('shutdown_response', answer)],
          dana: (body) => (calls(body).length > 0 ? undefined : [toolUse('shutdown_response', answer)]),
        }),
      );
      await run('spawnTeammate', { name: 'dana', role: 'coder', prompt: 'Work.' });
      await tellLead('Answer deadbeef.');
      const of = (member: string) =>
        callsOf(server, member).flatMap((body) => results(body).map((each) => each.text));
      assert.match(of('lead')[0] ?? '', /^Error: Unknown plan request_id 'deadbeef'/);
      assert.match(of('lead')[1] ?? '', /^Error: Unknown request_id 'deadbeef'/);
      assert.match(of('dana')[0] ?? '', /^Error: Unknown request_id 'deadbeef'/);
    });

    it('names the argument that a command cannot use', async () => {
      const wrong: [string, unknown[], RegExp][] = [
        [
          'approve',
          [42],
          /^handshake\.approve: the argument 'requestId' cannot be used: it is the number 42\. Expected: a text\.$/,
        ],
        [
          'sendToLead',
          ['  '],
          /^handshake\.sendToLead: the argument 'text' cannot be used: it is an empty text\. Expected: a text that is not empty\.$/,
        ],
        [
          'spawnTeammate',
          [{ name: 'dana' }],
          /^handshake\.spawnTeammate: the argument 'teammate\.role' is missing\. Expected: a text\.$/,
        ],
        [
          'raiseBudget',
          ['team', 'much'],
          /^handshake\.raiseBudget: the argument 'tokens' cannot be used: it is the text 'much'\. Expected: a number\.$/,
        ],
        ['setApiKey', ['a key with spaces'], /A key holds no spaces/],
        ['setApiKey', [KEY, 'ftp://example.invalid'], /This base URL cannot be used: it begins with ftp:/],
      ];
      for (const [command, args, says] of wrong) {
        assert.match((await rejection(run(command, ...args))).message, says);
      }
    });
  });
});
