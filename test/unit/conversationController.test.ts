import assert from 'node:assert/strict';
import type { TranscriptRecord } from '../../src/agent/transcript';
import { toConversation } from '../../src/ui/messages';
import { brief, mail, makeController, permissionOf, ScriptedCore } from './conversationFixtures';

const said = (at: number, text: string): TranscriptRecord => ({
  at,
  turn: { role: 'assistant', content: [{ type: 'text', text }] },
});

describe('ConversationController', () => {
  it('sends to the lead and shows the words once', async () => {
    const core = new ScriptedCore();
    const { controller, host } = makeController(core);
    await controller.attach();
    await controller.send('Spawn alice');
    assert.deepEqual(core.sent, ['Spawn alice']);
    assert.deepEqual(brief(controller.model.entries()), ['human: Spawn alice']);
    assert.equal(host.draft(), '');
  });

  it('gives the words back when they were not accepted, before what was typed since', async () => {
    const core = new ScriptedCore();
    const { controller, host, errors } = makeController(core);
    await controller.attach();
    core.onSend = async () => {
      host.setDraft('typed since');
      throw new Error('The disk is full.');
    };
    await controller.send('Spawn alice');
    assert.equal(host.draft(), 'Spawn alice\ntyped since');
    assert.deepEqual(brief(controller.model.entries()), [
      'notice error: not sent: The disk is full. (show_logs)',
    ]);
    assert.equal(errors.length, 1);
  });

  it('says a failed turn once, although the promise fails too', async () => {
    const core = new ScriptedCore();
    const { controller, host } = makeController(core);
    await controller.attach();
    core.onSend = async (text) => {
      core.accept(text);
      core.events.fire({ type: 'turn_ended', member: 'lead', error: { kind: 'no_key', text: 'No key.' } });
      throw new Error('No key.');
    };
    await controller.send('Hello');
    assert.deepEqual(brief(controller.model.entries()), [
      'human: Hello',
      'notice error: No key. (set_key run_demo)',
    ]);
    assert.equal(host.draft(), '');
  });

  it('says an accepted message that failed without a failed turn', async () => {
    const core = new ScriptedCore();
    const { controller } = makeController(core);
    await controller.attach();
    core.onSend = async (text) => {
      core.accept(text);
      throw new Error('The window is closing.');
    };
    await controller.send('Hello');
    assert.deepEqual(brief(controller.model.entries()), [
      'human: Hello',
      'notice error: The window is closing. (retry show_logs)',
    ]);
  });

  it('answers /team, /inbox and /help without the lead', async () => {
    const core = new ScriptedCore();
    const { controller } = makeController(core);
    await controller.attach();
    for (const command of ['/team', ' /INBOX ', '/help']) await controller.send(command);
    assert.deepEqual(core.sent, []);
    assert.deepEqual(brief(controller.model.entries()), [
      'human: /team',
      'notice info: lead idle',
      'human: /INBOX',
      'notice info: nothing waits',
      'human: /help',
      'notice info: help\ntext',
    ]);
  });

  it('names an unknown command and gives the words back; a path or a space is a message', async () => {
    const core = new ScriptedCore();
    const { controller, host } = makeController(core);
    await controller.attach();
    await controller.send('/spawn bob');
    await controller.send('/constructor');
    assert.deepEqual(core.sent, []);
    assert.equal(host.draft(), '/constructor\n/spawn bob');
    await controller.send('/etc/hosts is wrong');
    await controller.send(' /spawn bob');
    await controller.send(' /team is a folder');
    assert.deepEqual(core.sent, ['/etc/hosts is wrong', ' /spawn bob', ' /team is a folder']);
  });

  it('case 43: without a folder says why, offers to open one, and keeps the words', async () => {
    const { controller, host, ran } = makeController(undefined, { hasFolder: () => false });
    await controller.attach();
    await controller.send('Hello');
    assert.equal(host.draft(), 'Hello');
    assert.deepEqual(brief(controller.model.entries()), ['notice error: No folder is open. (open_folder)']);
    const state = controller.state();
    assert.ok(state.type === 'state');
    assert.deepEqual(state.welcome, [{ action: 'open_folder', label: 'Open folder' }]);
    await controller.act('open_folder');
    assert.deepEqual(ran, ['open_folder']);
  });

  it('offers the demo and a key while no source of words is ready', async () => {
    const { controller } = makeController(new ScriptedCore(), {
      modelState: () => ({ demo: false, ready: false }),
    });
    await controller.attach();
    const state = toConversation.parse(controller.state());
    assert.ok(state.type === 'state');
    assert.deepEqual(
      state.welcome.map(({ action }) => action),
      ['run_demo', 'set_key'],
    );
    assert.equal(state.suggestions.length, 1);
  });

  it('takes a failed turn up again without repeating what was said', async () => {
    const core = new ScriptedCore();
    const { controller } = makeController(core);
    await controller.attach();
    await controller.act('retry');
    assert.deepEqual(core.retried, ['lead']);
    assert.deepEqual(core.sent, []);
  });

  it('labels as a demo what the demo said, whatever speaks now', async () => {
    const core = new ScriptedCore();
    core.records = [{ ...said(1, 'Hello'), demo: true }, said(2, 'Hi')];
    const { controller } = makeController(core, { modelState: () => ({ demo: false, ready: true }) });
    await controller.attach();
    assert.deepEqual(brief(controller.model.entries()), ['assistant: Hello (demo)', 'assistant: Hi']);
  });

  it('stops the lead', async () => {
    const core = new ScriptedCore();
    const { controller } = makeController(core);
    await controller.attach();
    await controller.stop();
    assert.deepEqual(core.interrupted, ['lead']);
  });

  it('case 41: has history, unread words and what waits back after a start', async () => {
    const core = new ScriptedCore();
    core.status = 'waiting';
    core.records = [
      { at: 1, turn: { role: 'user', content: [] }, mail: [mail('Test it')] },
      {
        at: 2,
        turn: {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 't1', name: 'bash', input: { command: 'npm test' } }],
        },
      },
    ];
    core.open = [permissionOf('lead', 't1')];
    core.mail = [mail('And hurry')];
    const { controller, posted } = makeController(core);
    await controller.attach();
    assert.deepEqual(brief(controller.model.entries()), [
      'human: Test it',
      'tool bash npm test [waiting]',
      'human: And hurry',
    ]);
    const state = posted.at(-1);
    assert.ok(state?.type === 'state');
    assert.equal(state.busy, true);
  });

  it('shows a call that a crash cut off as ended', async () => {
    const core = new ScriptedCore();
    const call = { type: 'tool_use', id: 't1', name: 'bash', input: { command: 'npm test' } } as const;
    core.records = [{ at: 1, turn: { role: 'assistant', content: [call] } }];
    const { controller } = makeController(core);
    await controller.attach();
    assert.deepEqual(brief(controller.model.entries()), ['tool bash npm test [error] stopped']);
  });

  it('loses and doubles nothing that happens while the history is read', async () => {
    const core = new ScriptedCore();
    const { controller } = makeController(core);
    core.readTranscript = async () => {
      core.events.fire({ type: 'assistant', member: 'lead', text: 'on disk', demo: false });
      core.events.fire({ type: 'assistant', member: 'lead', text: 'after it', demo: false });
      return [said(1, 'on disk')];
    };
    await controller.attach();
    assert.deepEqual(brief(controller.model.entries()), ['assistant: on disk', 'assistant: after it']);
  });

  it('says that the history cannot be read, and goes on', async () => {
    const core = new ScriptedCore();
    core.readTranscript = async () => {
      throw new Error('EACCES');
    };
    const { controller } = makeController(core);
    await controller.attach();
    await controller.send('Hello');
    assert.deepEqual(brief(controller.model.entries()), [
      'notice error: history: EACCES (show_logs)',
      'human: Hello',
    ]);
  });

  it('follows another team and forgets the old one', async () => {
    const first = new ScriptedCore();
    const second = new ScriptedCore();
    second.records = [said(1, 'second')];
    let core = first;
    const { controller, posted } = makeController(undefined, { core: () => core });
    await controller.attach();
    core = second;
    await controller.attach();
    first.events.fire({ type: 'notice', level: 'info', text: 'late' });
    assert.deepEqual(brief(controller.model.entries()), ['assistant: second']);
    assert.equal(posted.filter(({ type }) => type === 'state').length, 2);
  });

  it('starts empty with a new conversation', async () => {
    const core = new ScriptedCore();
    const { controller, posted } = makeController(core);
    await controller.attach();
    await controller.send('Hello');
    core.events.fire({ type: 'conversation_reset' });
    assert.deepEqual(brief(controller.model.entries()), []);
    assert.equal(posted.at(-1)?.type, 'state');
  });

  it('keeps what the lead has not read yet in a new conversation, where it is answered', async () => {
    const core = new ScriptedCore();
    core.mail = [mail('Count the files.')];
    const { controller } = makeController(core);
    await controller.attach();
    core.events.fire({ type: 'conversation_reset' });
    assert.deepEqual(brief(controller.model.entries()), ['human: Count the files.']);
  });
});

describe('ConversationController, after a restart', () => {
  /** The lead and alice had work left. */
  async function reopened() {
    const core = new ScriptedCore();
    core.mail = [mail('Count the files.')];
    core.held = ['lead', 'alice'];
    const made = makeController(core);
    await made.controller.attach();
    return { core, ...made, entries: () => brief(made.controller.model.entries()) };
  }

  /** As the core does it: nobody is held any more when an event tells of it. */
  function goesOn(core: ScriptedCore, name: string): void {
    core.held = core.held.filter((other) => other !== name);
    core.events.fire({ type: 'turn_started', member: name });
  }

  it('says below the unanswered words that the work waits, with the button that lets it go on', async () => {
    const { entries, controller, ran } = await reopened();
    assert.deepEqual(entries(), ['human: Count the files.', 'notice info: left work: lead, alice (go_on)']);
    await controller.act('go_on');
    assert.deepEqual(ran, ['go_on']);
  });

  it('says it in one place until all of it goes on', async () => {
    const { core, entries } = await reopened();
    core.events.fire({ type: 'turn_ended', member: 'bob' });
    goesOn(core, 'lead');
    core.events.fire({ type: 'assistant', member: 'lead', text: 'There are 7.', demo: false });
    assert.deepEqual(entries(), [
      'human: Count the files.',
      'notice info: left work: alice (go_on)',
      'assistant: There are 7.',
    ]);
    goesOn(core, 'alice');
    assert.deepEqual(entries(), ['human: Count the files.', 'assistant: There are 7.']);
  });

  it('says it still in a new conversation', async () => {
    const { core, entries } = await reopened();
    core.mail = [];
    core.events.fire({ type: 'conversation_reset' });
    assert.deepEqual(entries(), ['notice info: left work: lead, alice (go_on)']);
  });

  it('takes what is said meanwhile for the word, and shows it below', async () => {
    const { core, entries, controller } = await reopened();
    core.held = ['lead'];
    core.onSend = async (text) => {
      core.accept(text);
      goesOn(core, 'lead');
    };
    await controller.send('And the folders.');
    assert.deepEqual(entries(), ['human: Count the files.', 'human: And the folders.']);
  });

  it('shows nothing of it where another window runs the team', async () => {
    const { core, host, controller, entries } = await reopened();
    const other = new ScriptedCore();
    host.core = () => other;
    await controller.attach();
    goesOn(core, 'lead');
    assert.deepEqual(entries(), []);
  });
});
