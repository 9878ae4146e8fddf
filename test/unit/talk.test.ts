import * as assert from 'node:assert/strict';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam, type TestTeam } from './support/team';
import { endless, resultTexts, shown, withOperations } from './support/turns';

const spawn = (team: TestTeam, name: string) =>
  team.core.spawn({ name, role: 'coder', prompt: `Hello ${name}.` }, 'lead');

describe('talk', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it('the human messages any member directly; an idle one is at work at once, a busy one has it between two calls', async () => {
    const model = new ScriptedModel({
      alice: [[text('Ready.')], [call('read_file', { path: 'a.txt' })], [text('Seen in between.')]],
    }).always('lead', [text('Seen.')]);
    const workspace = withOperations(() => ({
      readFile: async () => {
        await team.core.sendMessage('alice', 'By the way.');
        return 'read';
      },
    }));
    const team: TestTeam = await openTeam(model, {}, undefined, { workspace });
    await spawn(team, 'alice');
    await team.core.whenIdle();
    await team.core.sendMessage('alice', 'Look.');
    await team.core.whenIdle();
    const [, idle, busy] = model.of('alice');
    assert.match(shown(idle), /<message from="human" type="message">\nLook\.\n<\/message>/);
    assert.match(shown(busy), /By the way\./);
    assert.deepEqual(resultTexts(busy), ['read']);
  });

  it('an interrupt stops the stream; the conversation stays valid, and the message is taken next', async () => {
    const stream = endless();
    const model = new ScriptedModel({ alice: [stream.step, [text('The other way, then.')]] });
    model.always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    await spawn(team, 'alice');
    await stream.begun;
    await team.core.sendMessage('alice', 'The other way.');
    await team.core.interrupt('alice');
    await team.core.whenIdle();
    assert.match(shown(model.of('alice')[1]), /The other way\./);
    assert.equal(model.of('alice').length, 2);
  });

  it('an interrupt stops the command; its call has a result, and the message is taken next', async () => {
    const model = new ScriptedModel({
      alice: [[call('bash', { command: 'sleep 60' }), call('bash', { command: 'true' })], [text('Stopped.')]],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model, { permissionMode: 'allow' });
    await spawn(team, 'alice');
    await team.next((event) => event.type === 'tool_started' && event.member === 'alice');
    await team.core.sendMessage('alice', 'Not that.');
    await team.core.interrupt('alice');
    await team.core.whenIdle();
    const next = model.of('alice')[1];
    assert.deepEqual(resultTexts(next).length, 2);
    assert.match(resultTexts(next)[1] ?? '', /^Not run: the human interrupted/);
    assert.match(shown(next), /Not that\./);
  });

  it('one that was interrupted goes on when the human lets it', async () => {
    const stream = endless();
    const model = new ScriptedModel({ alice: [stream.step, [text('Went on.')]] });
    model.always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    await spawn(team, 'alice');
    await stream.begun;
    await team.core.interrupt('alice');
    await team.core.whenIdle();
    assert.equal(model.of('alice').length, 1);
    await team.core.retry('alice');
    await team.core.whenIdle();
    assert.deepEqual(model.of('alice')[1]?.messages, model.of('alice')[0]?.messages);
    assert.equal(model.of('alice').length, 2);
  });

  it('members message each other', async () => {
    const model = new ScriptedModel({
      alice: [[text('Ready.')], [text('Heard bob.')]],
      bob: [[call('send_message', { to: 'Alice', content: 'From bob.' })], [text('Sent.')]],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    await spawn(team, 'alice');
    await team.core.whenIdle();
    await spawn(team, 'bob');
    await team.core.whenIdle();
    assert.match(shown(model.of('alice')[1]), /<message from="bob" type="message">\nFrom bob\.\n<\/message>/);
    assert.deepEqual(resultTexts(model.of('bob')[1]), ['Sent message to alice']);
  });

  it('a broadcast reaches everyone but its sender, the lead included', async () => {
    const model = new ScriptedModel({
      lead: [[call('broadcast', { content: 'From the lead.' })], [text('Told.')]],
    });
    for (const name of ['lead', 'alice', 'bob', 'carol']) model.always(name, [text('Seen.')]);
    const team = await openTeam(model);
    for (const name of ['alice', 'bob', 'carol']) await spawn(team, name);
    await team.core.whenIdle();
    await team.core.forceStop('carol');
    assert.equal(await team.core.broadcast('From the human.'), 3);
    await team.core.whenIdle();
    const heard = (content: string): string[] =>
      team.events.flatMap((event) =>
        event.type === 'message' && event.message.content === content ? [event.message.to] : [],
      );
    assert.deepEqual(heard('From the human.').sort(), ['alice', 'bob', 'lead']);
    assert.deepEqual(heard('From the lead.').sort(), ['alice', 'bob', 'carol']);
  });
});
