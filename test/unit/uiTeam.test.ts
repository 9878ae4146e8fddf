import assert from 'node:assert/strict';
import type { MemberActivity } from '../../src/agent/coreApi';
import { AFTER_RESTART } from '../../src/agent/hold';
import { Coalescer } from '../../src/ui/coalesce';
import { eventLine } from '../../src/ui/eventLine';
import { baseUrlProblem, keyProblem } from '../../src/ui/keyInput';
import { leftWorkText } from '../../src/ui/leftWork';
import { statusBarText } from '../../src/ui/statusModel';
import { leadRow, memberRow } from '../../src/ui/teamModel';
import { fenced, transcriptMarkdown } from '../../src/ui/transcriptText';
import { command, member } from './uiFixtures';

const quiet = {};

describe('the Team view', () => {
  it('says what a member does now, its role and its plan', () => {
    const row = memberRow(
      member({ status: 'working' }),
      { doing: { what: 'call', call: 'bash npm test' } },
      'approved',
    );
    assert.equal(row.description, 'coder · bash npm test · plan approved');
    assert.equal(row.contextValue, 'member.teammate.alive');
    assert.equal(row.spoken, 'alice, coder, bash npm test, plan approved');
  });

  it('says for how long a model call waits, and for what', () => {
    const said = (activity: MemberActivity) =>
      memberRow(member({ status: 'working' }), activity, 'not_required').description;
    const pause = { for: 'pause', why: 'overloaded', ms: 2100 } as const;
    assert.equal(said({ doing: { what: 'waits', for: pause } }), 'coder · waiting 3 s: endpoint overloaded');
    assert.equal(
      said({ doing: { what: 'waits', for: { for: 'slot' } } }),
      'coder · waiting for other model calls to end',
    );
    const asks: MemberActivity = { doing: { what: 'call', call: 'bash ls' }, asksPermission: true };
    assert.equal(said(asks), 'coder · waiting for permission: bash ls');
  });

  it('offers nothing for a member that is gone, and says why one failed', () => {
    assert.equal(
      memberRow(member({ status: 'shutdown' }), quiet, 'pending').contextValue,
      'member.teammate.gone',
    );
    assert.equal(
      memberRow(member({ status: 'shutdown' }), quiet, 'pending').description,
      'coder · shut down',
    );
    const failed = memberRow(member({ status: 'failed', statusReason: 'no key' }), quiet, 'not_required');
    assert.equal(failed.description, 'coder · failed: no key');
  });

  it('shows the lead first of all by its own row', () => {
    assert.equal(leadRow({ status: 'idle' }, quiet).description, 'idle');
    assert.equal(leadRow({ status: 'working' }, { doing: { what: 'thinking' } }).description, 'thinking');
  });

  it('says who waits for the word to go on since a restart, and not that it is idle', () => {
    const held: MemberActivity = { hold: AFTER_RESTART };
    const lead = leadRow({ status: 'idle' }, held);
    assert.equal(lead.description, 'waits for your word to go on');
    assert.equal(lead.contextValue, 'member.lead.restart');
    assert.equal(lead.icon.id, 'bell-dot');
    const alice = memberRow(member(), held, 'not_required');
    assert.equal(alice.description, 'coder · waits for your word to go on');
    assert.equal(alice.contextValue, 'member.teammate.alive.restart');
    assert.equal(alice.icon.id, 'bell-dot');
    // What has to be mended first is said first; Go On is there all the same.
    const failed = memberRow(member({ status: 'failed', statusReason: 'no disk' }), held, 'not_required');
    assert.equal(failed.description, 'coder · failed: no disk');
    assert.equal(failed.contextValue, 'member.teammate.alive.restart');
    assert.equal(failed.icon.id, 'error');
  });
});

describe('whose work was left', () => {
  it('is said in a sentence that begins with a word', () => {
    assert.equal(leftWorkText(['lead']), 'The lead had work left when this window was closed.');
    assert.equal(leftWorkText(['alice']), 'alice had work left when this window was closed.');
    assert.equal(
      leftWorkText(['lead', 'alice', 'bob']),
      'The lead, alice and bob had work left when this window was closed.',
    );
  });
});

describe('the status bar item', () => {
  it('counts who works and what waits, and warns while something waits', () => {
    const status = statusBarText({ working: 3, pending: 1, overdue: 0, demo: false });
    assert.equal(status.text, '$(organization) 3 working · 1 waiting');
    assert.ok(status.warning);
    assert.doesNotMatch(status.spoken, /overdue/);
  });

  it('says how many wait for longer than they should', () => {
    const status = statusBarText({ working: 0, pending: 3, overdue: 2, demo: false });
    assert.equal(status.text, '$(organization) 0 working · 3 waiting · 2 overdue');
    assert.match(status.spoken, /3 waiting for a decision, 2 of them overdue/);
    assert.ok(status.warning);
  });

  it('counts who does nothing before the human has said something', () => {
    const status = statusBarText({ working: 0, pending: 0, overdue: 0, held: 2, demo: false });
    assert.equal(status.text, '$(organization) Handshake · 2 on hold');
    assert.match(status.spoken, /0 waiting for a decision, 2 on hold$/);
    assert.ok(!status.warning);
    const busy = statusBarText({ working: 1, pending: 1, overdue: 1, held: 1, demo: true });
    assert.equal(busy.text, '$(organization) 1 working · 1 waiting · 1 overdue · 1 on hold · demo');
  });

  it('is calm while nothing happens, and names the demo', () => {
    const status = statusBarText({ working: 0, pending: 0, overdue: 0, demo: true });
    assert.equal(status.text, '$(organization) Handshake · demo');
    assert.ok(!status.warning);
  });
});

describe('the log', () => {
  it('is one line an event, without the streamed pieces', () => {
    const line = eventLine({ type: 'request', change: 'opened', request: command('npm test') });
    assert.equal(line?.level, 'info');
    assert.match(line?.text ?? '', /^Request [0-9a-f]{8} opened: alice wants to run: npm test$/);
    assert.equal(eventLine({ type: 'text', member: 'lead', text: 'x' }), undefined);
    const result = eventLine({
      type: 'tool_ended',
      member: 'alice',
      id: 't',
      name: 'bash',
      result: 'one\ntwo',
      isError: false,
    });
    assert.equal(result?.text, 'alice bash → one two');
  });
});

describe('a transcript as a document', () => {
  it('fences what a tool said so that nothing in it ends the block', () => {
    assert.equal(fenced('a\n```\nb', 'text'), '````text\na\n```\nb\n````');
  });

  it('tells who said what, with tool calls and results', () => {
    const text = transcriptMarkdown('alice', [
      {
        at: 0,
        turn: {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I run the tests.' },
            { type: 'tool_use', id: 'toolu_1', name: 'bash', input: { command: 'npm test' } },
          ],
        },
      },
      {
        at: 1,
        turn: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' }] },
      },
    ]);
    assert.match(text, /^# Transcript of alice\n\n## alice · 1970-01-01T00:00:00.000Z\n\nI run the tests\./);
    assert.match(text, /\*\*bash\*\* `toolu_1`\n\n```json\n\{\n {2}"command": "npm test"\n\}\n```/);
    assert.match(text, /## to alice/);
    assert.match(transcriptMarkdown('bob', []), /Nothing was said yet/);
  });

  it('says of a call that had to be permitted who decided, and how', () => {
    const record = {
      at: 0,
      turn: {
        role: 'assistant' as const,
        content: [{ type: 'tool_use' as const, id: 'toolu_1', name: 'bash', input: {} }],
      },
    };
    const asked = command('npm test');
    const decided = { ...asked, status: 'approved', decidedBy: 'human', via: 'api' } as const;
    const text = transcriptMarkdown('alice', [record], [decided]);
    assert.ok(text.includes(`_Permission ${asked.requestId}: approved by you, through the API_`), text);
    const byLead = transcriptMarkdown('alice', [record], [{ ...decided, decidedBy: 'lead', via: 'tool' }]);
    assert.match(byLead, /approved by lead_/);
    assert.doesNotMatch(transcriptMarkdown('bob', [record], [decided]), /Permission/);
  });
});

describe('typed keys and addresses', () => {
  it('refuses what cannot be a key, without repeating it', () => {
    assert.equal(keyProblem('sk-ant-123'), undefined);
    for (const bad of ['', '  ', 'sk ant', 'sk\nant', 'sk-ä']) {
      const problem = keyProblem(bad);
      assert.ok(problem, JSON.stringify(bad));
      if (bad.trim() !== '') assert.ok(!problem.includes(bad));
    }
  });

  it('refuses what cannot be a base URL', () => {
    assert.equal(baseUrlProblem('https://gateway.example/anthropic'), undefined);
    assert.ok(baseUrlProblem('gateway.example'));
    assert.ok(baseUrlProblem('https://me:secret@gateway.example'));
  });
});

describe('the coalescer', () => {
  it('runs once for many requests, at once on flush, and never after its end', async () => {
    let runs = 0;
    let ran: (() => void) | undefined;
    const once = new Promise<void>((resolve) => {
      ran = resolve;
    });
    const coalescer = new Coalescer(() => {
      runs++;
      ran?.();
    }, 1);
    for (let i = 0; i < 50; i++) coalescer.request();
    await once;
    assert.equal(runs, 1);
    coalescer.request();
    coalescer.flush();
    assert.equal(runs, 2);
    coalescer.request();
    coalescer.dispose();
    coalescer.flush();
    assert.equal(runs, 2);
  });
});
