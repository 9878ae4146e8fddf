import * as assert from 'node:assert/strict';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam } from './support/team';
import { endless, requestIdIn, resultTexts, shown } from './support/turns';

/** The results that the field's own clients look for. */
describe('tools: what they answer', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it('spawn_teammate, list_teammates, broadcast, shutdown_request, shutdown_response', async () => {
    const stream = endless();
    let shutdownId = '';
    const model = new ScriptedModel({
      lead: [
        [call('list_teammates'), call('broadcast', { content: 'Anyone?' })],
        [
          call('spawn_teammate', { name: 'Alice', role: 'coder', prompt: 'Go.' }),
          call('spawn_teammate', { name: 'alice', role: 'coder', prompt: 'Go.' }),
          call('list_teammates'),
        ],
        [
          call('broadcast', { content: 'Hello.' }),
          call('send_message', { to: 'alice', content: 'Hi.' }),
          call('shutdown_request', { teammate: 'alice', reason: 'Done.' }),
          call('shutdown_request', { teammate: 'ALICE' }),
        ],
        () => {
          shutdownId = team.core.requests()[0]?.requestId ?? '';
          return [call('shutdown_response', { request_id: shutdownId })];
        },
        [text('Asked.')],
      ],
      alice: [stream.step],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    await team.core.sendToLead('Go.');
    const seen = model.of('lead').map(resultTexts);
    assert.deepEqual(seen[1], ['Team: workspace\nNo teammates.', 'There are no teammates to reach.']);
    assert.equal(seen[2]?.[0], "Spawned 'alice' (role: coder)");
    assert.match(
      seen[2]?.[1] ?? '',
      /^Error: 'alice' is already in the team \(status: \w+\)\. Send a message instead\.$/,
    );
    assert.match(seen[2]?.[2] ?? '', /^Team: workspace\n {2}alice \(coder\): \w+$/);
    const asked = `Shutdown request ${shutdownId} sent to 'alice' (status: pending)`;
    assert.deepEqual(seen[3], ['Broadcast to 1 teammate: alice', 'Sent message to alice', asked, asked]);
    assert.match(
      seen[4]?.[0] ?? '',
      new RegExp(`^Request ${shutdownId} \\(shutdown, lead to alice\\): pending\\.`),
    );
  });

  it('shutdown_response of a teammate: approved ends it, rejected keeps it and tells the asker why', async () => {
    const model = new ScriptedModel({
      alice: [
        [text('Ready.')],
        (request) => [
          call('shutdown_response', { request_id: requestIdIn(request), approve: false, reason: 'Not yet.' }),
        ],
        [text('Going on.')],
        (request) => [call('shutdown_response', { request_id: requestIdIn(request), approve: true })],
      ],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await team.core.whenIdle();
    model.add('lead', [call('shutdown_request', { teammate: 'alice' })], [text('Asked.')]);
    await team.core.sendToLead('End alice.');
    await team.core.whenIdle();
    assert.deepEqual(resultTexts(model.of('alice')[2]), ['Shutdown rejected']);
    assert.equal(team.core.member('alice')?.status, 'idle');
    const mail = model.of('lead').map(shown).join('\n');
    assert.match(
      mail,
      /<message from="alice" type="shutdown_response" request_id="[0-9a-f]{8}" approve="false">\nNot yet\./,
    );
    const ended = team.next((event) => event.type === 'tool_ended' && event.name === 'shutdown_response');
    await team.core.requestShutdown('alice');
    const result = await ended;
    assert.equal(result.type === 'tool_ended' && result.result, 'Shutdown approved');
    await team.core.whenIdle();
    assert.equal(team.core.member('alice')?.status, 'shutdown');
    assert.match(team.core.describeTeam(), /^Team: workspace\n {2}alice \(coder\): shutdown$/);
  });

  it("a teammate cannot answer another's request, nor one of another kind", async () => {
    const stream = endless();
    const model = new ScriptedModel({ alice: [stream.step], bob: [], lead: [] }).always('lead', [
      text('Seen.'),
    ]);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await stream.begun;
    const { requestId } = await team.core.requestShutdown('alice');
    let own = '';
    model.add(
      'bob',
      [
        call('shutdown_response', { request_id: requestId, approve: true }),
        call('plan_approval', { plan: 'P' }),
      ],
      () => {
        own = team.core.requests().find((request) => request.kind === 'plan_approval')?.requestId ?? '';
        return [call('shutdown_response', { request_id: own, approve: true })];
      },
      [text('Done.')],
    );
    // A refusal is recorded in the background; its event may come after the turn.
    const ended = team.next((event) => event.type === 'turn_ended' && event.member === 'bob');
    const recorded = team.next((event) => event.type === 'refusal' && event.code === 'wrong_kind');
    await team.core.spawn({ name: 'bob', role: 'coder', prompt: 'Go.' }, 'human');
    await Promise.all([ended, recorded]);
    assert.equal(
      resultTexts(model.of('bob')[1])[0],
      `Error: Request ${requestId} is for alice to answer, not for bob.`,
    );
    assert.equal(
      resultTexts(model.of('bob')[2])[0],
      `Error: Request ${own} is a plan_approval request; a shutdown_response cannot answer it.`,
    );
    assert.equal(team.core.request(requestId)?.status, 'pending');
    const codes = team.events.flatMap((event) => (event.type === 'refusal' ? [event.code] : []));
    assert.deepEqual(codes, ['wrong_responder', 'wrong_kind']);
  });

  it('plan_approval of the lead: reject with feedback, approve, and who comes second', async () => {
    // Both react to what they are shown: a decision may come before the teammate's turn has ended, or after.
    const model = new ScriptedModel({})
      .always('bob', (request) => {
        const mail = shown(request);
        if (mail.includes('approve="false"')) return [call('plan_approval', { plan: 'P2' })];
        if (!mail.includes('\nGo.\n')) return [text('Ok.')];
        return [call('plan_approval', { plan: 'P1', files: ['src/**'], commands: ['npm test'] })];
      })
      .always('lead', (request) => {
        if (!shown(request).includes('plan_approval_request')) return [text('Seen.')];
        const decide = (approve: boolean, feedback?: string) =>
          call('plan_approval', { request_id: requestIdIn(request), approve, feedback });
        return shown(request).includes('P1') ? [decide(false, 'Smaller.')] : [decide(true), decide(false)];
      });
    const team = await openTeam(model);
    await team.core.spawn({ name: 'bob', role: 'coder', prompt: 'Go.', requirePlan: true }, 'human');
    await team.core.whenIdle();
    const [p1, p2] = team.core.requests();
    assert.match(
      shown(model.of('lead')[0]),
      /\nP1\n\nFiles: `src\/\*\*`\n\nCommands: `npm test`\n<\/message>/,
    );
    assert.deepEqual(model.of('lead').flatMap(resultTexts), [
      "Plan rejected for 'bob'",
      "Plan approved for 'bob'",
      `Error: Request ${p2?.requestId} was already approved by lead.`,
    ]);
    const mail = model.of('bob').map(shown).join('\n');
    assert.match(mail, new RegExp(`request_id="${p1?.requestId}" approve="false">\nSmaller\\.`));
    assert.match(mail, /approve="true">\nYour plan is approved\. Go on with the work\./);
    assert.deepEqual(
      [p1?.status, p1?.feedback, p2?.status, p2?.decidedBy],
      ['rejected', 'Smaller.', 'approved', 'lead'],
    );
  });

  it('/team and /inbox in words', async () => {
    const stream = endless();
    const model = new ScriptedModel({ alice: [stream.step] }).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    assert.equal(team.core.describeTeam(), 'Team: workspace\nNo teammates.');
    assert.equal(team.core.describeInbox(), 'No request is waiting.\nNo unread messages.');
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.', requirePlan: true }, 'human');
    await stream.begun;
    const { requestId } = await team.core.requestShutdown('alice');
    assert.equal(team.core.describeTeam(), 'Team: workspace\n  alice (coder): working, plan required');
    assert.equal(
      team.core.describeInbox(),
      `Waiting for a decision:\n  ${requestId} Shutdown of alice, asked by human\nUnread messages:\n  alice: 1 unread (shutdown_request from human)`,
    );
  });
});
