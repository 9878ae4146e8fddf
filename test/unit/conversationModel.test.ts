import assert from 'node:assert/strict';
import { actionsFor } from '../../src/ui/conversationModel';
import { OLDER_ID, toConversation } from '../../src/ui/messages';
import { brief, mail, makeModel, permissionOf } from './conversationFixtures';

describe('ConversationModel', () => {
  it('streams text as one entry and few messages, and makes it whole at the end', () => {
    const { model, posted, clock } = makeModel();
    model.apply({ type: 'turn_started', member: 'lead' });
    for (const text of ['I ', 'start ', 'her', '.']) model.apply({ type: 'text', member: 'lead', text });
    assert.equal(clock.waiting, 1);
    clock.run();
    model.apply({ type: 'assistant', member: 'lead', text: 'I start her.', demo: true });
    model.apply({ type: 'turn_ended', member: 'lead' });
    assert.deepEqual(
      posted.map((message) => message.type),
      ['busy', 'upsert', 'append_text', 'upsert', 'busy'],
    );
    assert.deepEqual(posted[2], { type: 'append_text', id: 'said:1', text: 'start her.' });
    assert.deepEqual(brief(model.entries()), ['assistant: I start her. (demo)']);
    for (const message of posted) toConversation.parse(message);
  });

  it('tells gathered text before a state, so that no page gets it twice', () => {
    const { model, posted, clock } = makeModel();
    model.apply({ type: 'text', member: 'lead', text: 'a' });
    model.apply({ type: 'text', member: 'lead', text: 'b' });
    assert.deepEqual(brief(model.entries()), ['assistant: ab …']);
    clock.run();
    assert.deepEqual(
      posted.map((message) => message.type),
      ['upsert', 'append_text'],
    );
  });

  it('takes back the text of a call that was given up', () => {
    const { model, posted } = makeModel();
    model.apply({ type: 'text', member: 'lead', text: 'half' });
    model.apply({ type: 'text_void', member: 'lead' });
    assert.deepEqual(brief(model.entries()), []);
    assert.equal(posted.at(-1)?.type, 'remove');
    model.apply({ type: 'text', member: 'lead', text: 'whole' });
    model.apply({ type: 'assistant', member: 'lead', text: 'whole', demo: false });
    assert.deepEqual(brief(model.entries()), ['assistant: whole']);
  });

  it('shows a call that runs, waits for permission, and ends', () => {
    const { model } = makeModel();
    model.apply({
      type: 'tool_started',
      member: 'lead',
      id: 't1',
      name: 'bash',
      input: { command: 'npm test' },
    });
    const states = [brief(model.entries())];
    const request = permissionOf('lead', 't1');
    model.apply({ type: 'request', change: 'opened', request });
    states.push(brief(model.entries()));
    model.apply({ type: 'request', change: 'approved', request: { ...request, status: 'approved' } });
    states.push(brief(model.entries()));
    model.apply({ type: 'tool_ended', member: 'lead', id: 't1', name: 'bash', result: 'ok', isError: false });
    states.push(brief(model.entries()));
    assert.deepEqual(states.flat(), [
      'tool bash npm test [running]',
      'tool bash npm test [waiting]',
      'tool bash npm test [running]',
      'tool bash npm test [done] ok',
    ]);
  });

  it('shows a call that waits before it started', () => {
    const { model } = makeModel();
    model.apply({ type: 'request', change: 'opened', request: permissionOf('lead', 't1') });
    assert.deepEqual(brief(model.entries()), ['tool bash npm test [waiting]']);
    model.apply({ type: 'request', change: 'opened', request: permissionOf('bob', 't2') });
    assert.equal(model.entries().length, 1);
  });

  it('shows mail when the lead is shown it, and the human words at once', () => {
    const { model } = makeModel();
    const result = mail('done', { from: 'alice', type: 'result' });
    model.apply({ type: 'message', message: result });
    model.apply({ type: 'message', message: mail('to alice', { to: 'alice' }) });
    assert.deepEqual(brief(model.entries()), []);
    model.apply({ type: 'message', message: mail('Hello') });
    model.apply({ type: 'taken', member: 'lead', ids: [result.id] });
    assert.deepEqual(brief(model.entries()), ['human: Hello', 'mail alice result: done']);
  });

  it('leaves out what teammates say and do in their own turns', () => {
    const { model, posted } = makeModel();
    model.apply({ type: 'turn_started', member: 'bob' });
    model.apply({ type: 'text', member: 'bob', text: 'x' });
    model.apply({ type: 'assistant', member: 'bob', text: 'x', demo: false });
    model.apply({ type: 'tool_started', member: 'bob', id: 't', name: 'bash', input: {} });
    model.apply({ type: 'turn_ended', member: 'bob' });
    assert.deepEqual(posted, []);
  });

  it('says why a turn failed, the lead and teammates alike, with what can be done', () => {
    const { model } = makeModel();
    model.apply({ type: 'turn_ended', member: 'lead', error: { kind: 'bad_key', text: 'Key refused.' } });
    model.apply({ type: 'turn_ended', member: 'bob', error: { kind: 'unreachable', text: 'No answer.' } });
    model.apply({ type: 'notice', level: 'warning', text: 'A line was refused.', member: 'bob' });
    assert.deepEqual(brief(model.entries()), [
      'notice error: Key refused. (set_key run_demo)',
      'notice error: bob: No answer. (open_settings)',
      'notice warning: bob: A line was refused.',
    ]);
    assert.deepEqual(actionsFor('wrong_protocol'), ['set_key', 'open_settings', 'retry']);
    assert.deepEqual(actionsFor('unknown_model'), ['select_model', 'retry']);
    assert.deepEqual(actionsFor('overloaded'), ['retry', 'show_logs']);
  });

  it('marks calls that a stopped turn left without a result', () => {
    const { model } = makeModel();
    model.apply({
      type: 'tool_started',
      member: 'lead',
      id: 't1',
      name: 'bash',
      input: { command: 'sleep 9' },
    });
    model.apply({ type: 'text', member: 'lead', text: 'never whole' });
    model.apply({ type: 'turn_ended', member: 'lead' });
    assert.deepEqual(brief(model.entries()), ['tool bash sleep 9 [error] stopped']);
  });

  it('keeps the newest entries and says once that older ones are left out', () => {
    const { model, posted } = makeModel(3);
    for (let i = 1; i <= 5; i++) model.notice('info', String(i));
    assert.deepEqual(brief(model.entries()), [
      'notice info: older left out',
      'notice info: 3',
      'notice info: 4',
      'notice info: 5',
    ]);
    const older = posted.filter((message) => message.type === 'upsert' && message.entry.id === OLDER_ID);
    assert.equal(older.length, 1);
    assert.equal(posted.filter((message) => message.type === 'remove').length, 2);
  });

  it('case 41: holds the whole state after 500 streamed events, however they came', () => {
    const { model, posted, clock } = makeModel();
    model.apply({ type: 'turn_started', member: 'lead' });
    for (let i = 0; i < 500; i++) {
      model.apply({ type: 'text', member: 'lead', text: `${i} ` });
      if (i % 10 === 9) clock.run();
    }
    clock.run();
    const [entry] = model.entries();
    assert.ok(entry?.kind === 'assistant');
    assert.equal(entry.text, Array.from({ length: 500 }, (_, i) => `${i} `).join(''));
    assert.ok(posted.length <= 52, `${posted.length} messages for 500 events`);
    // A page that saw every message has the same text as one that gets the state.
    const seen = posted.map((message) => {
      if (message.type === 'append_text') return message.text;
      return message.type === 'upsert' && message.entry.kind === 'assistant' ? message.entry.text : '';
    });
    assert.equal(seen.join(''), entry.text);
  });
});
