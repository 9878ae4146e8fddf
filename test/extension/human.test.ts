// The human decides: by the API, by commands as a keybinding would, before and after the models.
import assert from 'node:assert/strict';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ModelServer, type ReplyBlock, toolUse } from '../model-server';
import { readLog, restoreSample } from './support/files';
import {
  answered,
  callsOf,
  freshTeam,
  gate,
  mail,
  planDecision,
  plansFirst,
  result,
  results,
  rules,
  startModel,
  tellLead,
  words,
} from './support/model';
import {
  activate,
  type HandshakeApi,
  pending,
  rejection,
  request,
  root,
  run,
  setSetting,
} from './support/window';

describe('the human', () => {
  let api: HandshakeApi;
  let server: ModelServer;

  before(async () => {
    api = await activate();
    server = await startModel();
  });
  after(() => server.close());

  beforeEach(async () => {
    await freshTeam();
    await restoreSample();
    server.requests.length = 0;
  });
  afterEach(() => assert.deepEqual(server.problems, []));

  const spawn = (name: string, requirePlan = false) =>
    run('spawnTeammate', { name, role: 'coder', prompt: 'Write notes.md.', requirePlan });
  const exists = (file: string): Promise<boolean> =>
    access(join(root(), file)).then(
      () => true,
      () => false,
    );

  describe('and a plan', () => {
    /** A lead that decides every plan, as soon as it may. */
    const leadDecides =
      (approve: boolean, when: Promise<void> = Promise.resolve()) =>
      async (body: Parameters<typeof mail>[0]) => {
        const plan = mail(body).find((message) => message.type === 'plan_approval_request');
        if (!plan) return undefined;
        await when;
        return [toolUse('plan_approval', { request_id: plan.requestId, approve })];
      };

    it('approves it before the lead rejects it; the lead is told who was quicker', async () => {
      const held = gate();
      server.setBrain(rules({ dana: plansFirst(), lead: leadDecides(false, held.opened) }));
      await spawn('dana', true);
      const { requestId } = await pending('plan_approval', 'dana');
      await server.waitForRequest(({ member }) => member === 'lead');
      const decided = await api.decide(requestId, { approve: true, feedback: 'Go on.' });
      assert.deepEqual([decided.status, decided.decidedBy, decided.via], ['approved', 'human', 'api']);
      held.open();
      await server.waitForRequest(answered('lead', /already approved by human\. Feedback: Go on\./));
      await api.whenIdle();
      const after = await request(requestId);
      assert.deepEqual([after.status, after.decidedBy, after.feedback], ['approved', 'human', 'Go on.']);
      const refused = (await readLog()).findLast((entry) => entry.event === 'refusal');
      assert.deepEqual(
        [refused?.code, refused?.by, refused?.request_id],
        ['already_decided', 'lead', requestId],
      );
    });

    it('comes after the lead, by the API and by commands, and is told so each time', async () => {
      server.setBrain(rules({ dana: plansFirst(), lead: leadDecides(true) }));
      await spawn('dana', true);
      await api.whenIdle();
      const { requestId, status, decidedBy } = api.requests().at(-1) ?? assert.fail('no request');
      assert.deepEqual([status, decidedBy], ['approved', 'lead']);
      const attempts = [
        () => api.decide(requestId, { approve: false, feedback: 'Stop.' }),
        () => run('reject', requestId, 'Stop.'),
        () => run('approve', requestId),
      ];
      for (const attempt of attempts) {
        const error = await rejection(attempt());
        assert.equal(error.code, 'already_decided');
        assert.match(error.message, new RegExp(`^Request ${requestId} was already approved by lead\\.`));
      }
      const after = await request(requestId);
      assert.deepEqual([after.status, after.decidedBy, after.via], ['approved', 'lead', 'tool']);
    });

    it('approves it by command, with a word that reaches the teammate, who then may write', async () => {
      server.setBrain(
        rules({
          dana: plansFirst((body) =>
            planDecision(body)
              ? [toolUse('write_file', { path: 'notes.md', content: 'As planned.\n' })]
              : undefined,
          ),
        }),
      );
      await spawn('dana', true);
      const { requestId } = await pending('plan_approval', 'dana');
      const decided = await run('approve', requestId, 'Keep it short.');
      assert.deepEqual(decided, await request(requestId));
      const { status, decidedBy, via } = await request(requestId);
      assert.deepEqual([status, decidedBy, via], ['approved', 'human', 'command']);
      await api.whenIdle();
      const told = callsOf(server, 'dana').flatMap((body) => planDecision(body) ?? []);
      assert.deepEqual(
        told.map(({ from, approve, text }) => ({ from, approve, text })),
        [{ from: 'human', approve: true, text: 'Keep it short.' }],
      );
      assert.equal(await readFile(join(root(), 'notes.md'), 'utf8'), 'As planned.\n');
    });

    it('rejects it by command; the teammate is told why and may not write', async () => {
      server.setBrain(
        rules({
          dana: plansFirst((body) =>
            planDecision(body)
              ? [toolUse('write_file', { path: 'notes.md', content: 'Anyway.\n' })]
              : undefined,
          ),
        }),
      );
      await spawn('dana', true);
      const { requestId } = await pending('plan_approval', 'dana');
      // As a keybinding's "args" come: one list.
      await run('reject', [requestId, 'Ask me first.']);
      const { status, decidedBy, via, feedback } = await request(requestId);
      assert.deepEqual([status, decidedBy, via, feedback], ['rejected', 'human', 'command', 'Ask me first.']);
      await server.waitForRequest(answered('dana', /^Blocked: plan status is rejected\./));
      await api.whenIdle();
      assert.equal(await exists('notes.md'), false);
    });

    it('answers twice at once: one answer counts, the other is refused', async () => {
      server.setBrain(rules({ dana: plansFirst() }));
      await spawn('dana', true);
      const { requestId } = await pending('plan_approval', 'dana');
      const outcomes = await Promise.allSettled([
        api.decide(requestId, { approve: true }),
        run('reject', requestId, 'No.'),
      ]);
      assert.deepEqual(outcomes.map((outcome) => outcome.status).sort(), ['fulfilled', 'rejected']);
      const won = outcomes[0].status === 'fulfilled' ? 'approved' : 'rejected';
      assert.equal((await request(requestId)).status, won);
      await api.whenIdle();
      const log = await readLog();
      const ends = log.filter((entry) => entry.request_id === requestId && entry.event === 'request');
      assert.deepEqual(ends.map((entry) => entry.change).slice(1), [won]);
    });

    it('is the only one to decide where the settings say so', async () => {
      await setSetting('approvals.plan', 'human');
      server.setBrain(rules({ dana: plansFirst(), lead: leadDecides(true) }));
      await spawn('dana', true);
      const { requestId } = await pending('plan_approval', 'dana');
      await server.waitForRequest(answered('lead', /^Error: The settings let only the human decide/));
      await api.whenIdle();
      assert.equal((await request(requestId)).status, 'pending');
      const refused = (await readLog()).findLast((entry) => entry.event === 'refusal');
      assert.deepEqual([refused?.code, refused?.by], ['not_allowed', 'lead']);
      assert.equal((await api.decide(requestId, { approve: true })).decidedBy, 'human');
    });
  });

  describe('and a shutdown', () => {
    it('approves it in place of a teammate that is still thinking', async () => {
      const held = gate();
      server.setBrain(
        rules({
          dana: async (body) => {
            if (mail(body).some((message) => message.type === 'shutdown_request')) await held.opened;
            return undefined;
          },
        }),
      );
      await spawn('dana');
      await api.whenIdle();
      await run('requestShutdown', 'dana');
      const { requestId, from, to } = await pending('shutdown');
      assert.deepEqual([from, to], ['human', 'dana']);
      await server.waitForRequest(
        ({ body }) => body !== undefined && mail(body).some((m) => m.requestId === requestId),
      );
      await run('approve', requestId);
      await api.whenIdle();
      held.open();
      const { status, decidedBy, via } = await request(requestId);
      assert.deepEqual([status, decidedBy, via], ['approved', 'human', 'command']);
      assert.deepEqual(api.team().members, [{ name: 'dana', role: 'coder', status: 'shutdown' }]);
    });

    it('rejects it first; the late answer of the teammate is refused and it stays', async () => {
      const held = gate();
      server.setBrain(
        rules({
          dana: async (body) => {
            const asked = mail(body).find((message) => message.type === 'shutdown_request');
            if (!asked) return undefined;
            await held.opened;
            return [toolUse('shutdown_response', { request_id: asked.requestId, approve: true })];
          },
        }),
      );
      await spawn('dana');
      await api.whenIdle();
      await run('requestShutdown', 'dana');
      const { requestId } = await pending('shutdown');
      await api.decide(requestId, { approve: false, feedback: 'I still need her.' });
      held.open();
      await server.waitForRequest(
        answered('dana', /already rejected by human\. Feedback: I still need her\./),
      );
      await api.whenIdle();
      assert.equal((await request(requestId)).status, 'rejected');
      assert.equal(api.team().members[0]?.status, 'idle');
    });

    it('comes after the teammate and is told so, though it has left', async () => {
      server.setBrain(
        rules({
          dana: (body) => {
            const asked = mail(body).find((message) => message.type === 'shutdown_request');
            return asked && [toolUse('shutdown_response', { request_id: asked.requestId, approve: true })];
          },
        }),
      );
      await spawn('dana');
      await run('requestShutdown', 'dana');
      await api.whenIdle();
      const { requestId } = api.requests().at(-1) ?? assert.fail('no request');
      const error = await rejection(run('reject', requestId));
      assert.equal(error.code, 'already_decided');
      assert.match(error.message, /was already approved by dana/);
    });
  });

  describe('and permissions', () => {
    const write = toolUse('write_file', { path: 'notes.md', content: 'Written.\n' });
    const command = toolUse('bash', { command: 'echo ran > ran.txt && cat ran.txt' });
    /** A lead that makes these calls, one in each turn, when it is spoken to. */
    const leadDoes = (...blocks: ReturnType<typeof toolUse>[]) =>
      rules({
        lead: (body) => {
          if (words(body) === '' && results(body).length === 0) return undefined;
          const made = body.messages.filter((message) => message.role === 'assistant').length;
          const next = blocks[made];
          return next && [{ ...next }];
        },
      });

    it('is asked before a file changes and before a command runs; nothing has happened until then', async () => {
      server.setBrain(leadDoes(write, command));
      const turn = api.sendToLead('Write and run.');
      const edit = await pending('tool_permission', 'lead');
      await api.whenIdle();
      assert.equal(await exists('notes.md'), false);
      await api.decide(edit.requestId, { approve: true });
      const run2 = await pending('tool_permission', 'lead');
      assert.notEqual(run2.requestId, edit.requestId);
      assert.equal(await readFile(join(root(), 'notes.md'), 'utf8'), 'Written.\n');
      await api.whenIdle();
      assert.equal(await exists('ran.txt'), false);
      await run('approve', run2.requestId);
      await turn;
      assert.equal(await readFile(join(root(), 'ran.txt'), 'utf8'), 'ran\n');
      assert.equal(result(callsOf(server, 'lead').at(-1)), 'ran');
    });

    it('refuses; the model is told why and nothing happens', async () => {
      server.setBrain(leadDoes(command, write));
      const turn = api.sendToLead('Write and run.');
      const asked = await pending('tool_permission', 'lead');
      await run('reject', asked.requestId, 'Not on this machine.');
      await server.waitForRequest(
        answered('lead', /^Refused: human did not permit this call\. Feedback: Not on this machine\./),
      );
      const next = await pending('tool_permission', 'lead');
      await api.decide(next.requestId, { approve: false });
      await turn;
      assert.match(result(callsOf(server, 'lead').at(-1)), /^Refused: human did not permit this call\.$/);
      assert.deepEqual([await exists('ran.txt'), await exists('notes.md')], [false, false]);
    });

    it('is not asked about edits in the mode acceptEdits, but about commands', async () => {
      await setSetting('permissions.mode', 'acceptEdits');
      server.setBrain(leadDoes(write, command));
      const turn = api.sendToLead('Write and run.');
      const asked = await pending('tool_permission', 'lead');
      assert.equal(await exists('notes.md'), true);
      assert.match(JSON.stringify(asked.payload), /"access":"command"/);
      await api.decide(asked.requestId, { approve: true });
      await turn;
      assert.equal(await exists('ran.txt'), true);
    });

    it('is not asked at all in the mode allow', async () => {
      await setSetting('permissions.mode', 'allow');
      const before = api.requests().length;
      server.setBrain(leadDoes(write, command));
      await tellLead('Write and run.');
      assert.equal(api.requests().length, before);
      assert.deepEqual([await exists('notes.md'), await exists('ran.txt')], [true, true]);
    });

    it('is not asked about the edits that an approved plan covers, but about its commands', async () => {
      server.setBrain(
        rules({
          dana: plansFirst((body) => {
            if (planDecision(body)) return [{ ...write }];
            return results(body).some((each) => /notes\.md/.test(each.text)) ? [{ ...command }] : undefined;
          }),
        }),
      );
      await spawn('dana', true);
      await api.decide((await pending('plan_approval', 'dana')).requestId, { approve: true });
      const asked = await pending('tool_permission', 'dana');
      assert.match(JSON.stringify(asked.payload), /"access":"command"/);
      assert.equal(await readFile(join(root(), 'notes.md'), 'utf8'), 'Written.\n');
      assert.equal(
        api
          .requests()
          .filter((r) => r.kind === 'tool_permission')
          .at(-1)?.requestId,
        asked.requestId,
      );
      await api.whenIdle();
      assert.equal(await exists('ran.txt'), false);
      await api.decide(asked.requestId, { approve: true });
      await api.whenIdle();
      assert.equal(await exists('ran.txt'), true);
    });

    it('is spared those that the lead may decide and decides, as long as the setting says so', async () => {
      const asks = (): ReplyBlock[] => [toolUse('bash', { command: 'echo yes > ran.txt' })];
      const deciding = gate();
      server.setBrain(
        rules({
          dana: (body) => (results(body).length === 0 ? asks() : undefined),
          lead: async (body) => {
            const asked = mail(body).find((message) => message.type === 'permission_request');
            if (!asked) return undefined;
            await deciding.opened;
            return [toolUse('permission_decision', { request_id: asked.requestId, approve: true })];
          },
        }),
      );
      await setSetting('approvals.permission', 'either');
      await spawn('dana');
      const first = await pending('tool_permission', 'dana');
      await setSetting('approvals.permission', 'human');
      deciding.open();
      await server.waitForRequest(answered('lead', /settings let only the human decide/));
      assert.equal((await request(first.requestId)).status, 'pending');
      await api.decide(first.requestId, { approve: false });
      await api.whenIdle();

      await setSetting('approvals.permission', 'either');
      await run('sendMessage', 'dana', 'Once more.');
      await server.waitForRequest(answered('lead', /^Permission approved for 'dana'$/));
      await api.whenIdle();
      const { decidedBy, via } = api.requests().at(-1) ?? assert.fail('no request');
      assert.deepEqual([decidedBy, via], ['lead', 'tool']);
      assert.equal(await exists('ran.txt'), true);
    });
  });

  describe('and a team that the lead proposes', () => {
    const proposes = (body: Parameters<typeof mail>[0]) =>
      words(body).includes('Propose.')
        ? [
            toolUse('propose_team', {
              members: [
                { name: 'eli', role: 'coder', prompt: 'Wait.' },
                { name: 'fay', role: 'tester', prompt: 'Wait.' },
              ],
            }),
          ]
        : undefined;

    it('starts it with one command, and the lead hears who it is', async () => {
      server.setBrain(rules({ lead: proposes }));
      await tellLead('Propose.');
      const { requestId } = await pending('team_proposal', 'lead');
      assert.deepEqual(api.team().members, []);
      await run('approve', requestId, 'Both, please.');
      await api.whenIdle();
      assert.deepEqual(
        api.team().members.map(({ name, role }) => [name, role]),
        [
          ['eli', 'coder'],
          ['fay', 'tester'],
        ],
      );
      const told = server.requests.flatMap(({ member, body }) =>
        member === 'lead' && body ? mail(body).filter((message) => message.requestId === requestId) : [],
      );
      assert.equal(told.length, 1);
      assert.match(told[0]?.text ?? '', /^Started: eli .*fay .*\nFeedback: Both, please\./);
      const after = await request(requestId);
      assert.deepEqual([after.status, after.decidedBy, after.via], ['approved', 'human', 'command']);
    });
  });
});
