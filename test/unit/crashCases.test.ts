import * as assert from 'node:assert/strict';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam } from './support/team';
import { endless, resultTexts, shown } from './support/turns';

/** How often a text stands in a model call, in whichever turn. */
function times(model: ScriptedModel, member: string, words: string): number {
  return JSON.stringify(model.of(member).at(-1)?.messages ?? []).split(words).length - 1;
}

describe('the host is killed', function () {
  this.timeout(60_000);
  afterEach(closeTeams);

  it('case 15: a message that was taken, and whose model call was not made, is shown once', async () => {
    const stream = endless();
    const model = new ScriptedModel({}).always('lead', [text('Seen.')]);
    model.add('alice', [text('Ready.')], stream.step);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await team.core.whenIdle();
    await team.core.sendMessage('alice', 'The door is blue.');
    await stream.begun;
    const later = new ScriptedModel({}).always('lead', [text('Seen.')]).always('alice', [text('Blue.')]);
    const again = await team.reopenAfterCrash(later);
    again.core.resume();
    await again.core.whenIdle();
    assert.equal(times(later, 'alice', 'The door is blue.'), 1);
    assert.deepEqual(again.core.unread('alice'), []);
    await again.core.sendMessage('alice', 'And the window?');
    await again.core.whenIdle();
    assert.equal(times(later, 'alice', 'The door is blue.'), 1);
  });

  it('case 15: a message that waits for the end of a tool call is shown once, in the next model call', async () => {
    const model = new ScriptedModel({}).always('lead', [text('Seen.')]);
    // The message may end the wait before the copy is made; it gets no further.
    model.add('alice', [call('bash', { command: 'make' })], endless().step);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await team.pending('tool_permission');
    await team.core.sendMessage('alice', 'Leave it.');
    const later = new ScriptedModel({})
      .always('lead', [text('Seen.')])
      .always('alice', [text('I leave it.')]);
    const again = await team.reopenAfterCrash(later);
    again.core.resume();
    await again.core.whenIdle();
    const first = later.of('alice')[0];
    assert.match(resultTexts(first).join(), /^Not run: /);
    assert.match(shown(first), /Leave it\./);
    assert.equal(times(later, 'alice', 'Leave it.'), 1);
  });

  it('case 22: two unread messages and a teammate in mid-call: true states, both arrive once, it goes on', async () => {
    const stream = endless();
    const model = new ScriptedModel({}).always('lead', [text('Seen.')]);
    model.add('alice', stream.step);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await stream.begun;
    await team.core.sendMessage('alice', 'One.');
    await team.core.sendMessage('alice', 'Two.');
    assert.equal(team.core.member('alice')?.status, 'working');
    const later = new ScriptedModel({}).always('lead', [text('Seen.')]);
    later.add('alice', [text('Both read.')]);
    const again = await team.reopenAfterCrash(later);
    assert.equal(again.core.member('alice')?.status, 'idle');
    assert.equal(again.core.leadStatus().status, 'idle');
    assert.deepEqual(
      again.core.unread('alice').map((message) => message.content),
      ['One.', 'Two.'],
    );
    await again.core.whenIdle();
    assert.deepEqual(
      (await again.config()).members.map((member) => `${member.name} ${member.status}`),
      ['alice idle'],
    );
    assert.equal(later.of('alice').length, 0, 'nothing goes on unasked');
    again.core.resume();
    await again.core.whenIdle();
    assert.equal(later.of('alice').length, 1);
    for (const words of ['Go.', 'One.', 'Two.']) assert.equal(times(later, 'alice', words), 1, words);
    assert.deepEqual(again.core.unread('alice'), []);
    assert.equal(again.core.member('alice')?.status, 'idle');
  });
});
