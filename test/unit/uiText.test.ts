import assert from 'node:assert/strict';
import { firstLine, fitsInRow, plainAddress, plainLine, unlink, withoutIcons } from '../../src/ui/plainText';
import { outcomeText, requestText } from '../../src/ui/requestText';
import { command, request } from './uiFixtures';

/** What VS Code takes for a link in a notification. */
const LINK = /\[([^\]]+)\]\((command:|https?:\/\/|file:)/i;

describe('plain text of others', () => {
  it('case 47: link syntax of a member becomes plain text', () => {
    const line = plainLine('see [details](command:handshake.approve?%5B%22a1b2c3d4%22%5D) now');
    assert.equal(line, 'see details now');
    for (const text of [
      '[[a](x)](command:b)',
      '[a] (x)[b](command:c)',
      '[a\n](command:b)',
      '[a]\u200b(command:b)',
      '![image](https://example.com/x.png)',
      '[a](command:b?(c))',
      '[[[x](y)](z)](command:w)',
    ]) {
      assert.doesNotMatch(plainLine(text), LINK, text);
      assert.doesNotMatch(unlink(text), LINK, text);
    }
  });

  it('is one line without control or direction marks, cut with an ellipsis', () => {
    assert.equal(plainLine('a\r\n\tb\u001b[31m\u202ec\u0000'), 'a b[31mc');
    assert.equal(plainLine('x'.repeat(50), 10), `${'x'.repeat(9)}…`);
  });

  it('never cuts the host of an address', () => {
    assert.equal(plainAddress('https://api.example.com'), 'https://api.example.com');
    assert.equal(plainAddress('http://127.0.0.1:8080/v1?a=b'), 'http://127.0.0.1:8080/v1?a=b');
    const host = `api.example.com.${'a.'.repeat(100)}evil.example`;
    assert.equal(plainAddress(`https://${host}/${'x'.repeat(500)}`), `https://${host}/${'x'.repeat(78)}…`);
  });

  it('keeps icons out of quick picks', () => {
    assert.equal(withoutIcons('$(check) done'), '\\$(check) done');
  });

  it('knows what a row can show whole', () => {
    assert.ok(fitsInRow('npm test', 60));
    assert.ok(!fitsInRow('npm test\nrm -rf b', 60));
    assert.ok(!fitsInRow('x'.repeat(61), 60));
    assert.ok(!fitsInRow('echo \u202e1', 60));
    for (const hidden of ['\u00ad', '\u034f', '\u3164', '\u{e0041}', '\ufe0f'])
      assert.ok(!fitsInRow(`npm test${hidden}`, 60));
    assert.ok(!fitsInRow('echo [a](command:b)', 60));
  });

  it('finds the first words of a plan', () => {
    assert.equal(firstLine('\n\n## Split the router\n\ntext'), 'Split the router');
    assert.equal(firstLine('1. Read src/a.js\n2. Write'), 'Read src/a.js');
    assert.equal(firstLine(''), '');
  });
});

describe('a request in words', () => {
  it('names who, what and the whole command', () => {
    const text = requestText(command('npm test'));
    assert.equal(text.label, 'alice: npm test');
    assert.equal(text.sentence, 'alice wants to run: npm test');
    assert.ok(text.whole);
  });

  it('says that a long command needs a look, and cuts it visibly', () => {
    const text = requestText(command(`node -e "${'x'.repeat(100)}"`));
    assert.ok(!text.whole);
    assert.match(text.label, /…$/);
    assert.match(text.sentence, /needs a look/);
  });

  it('tells plans, shutdowns, edits and proposals apart', () => {
    assert.equal(
      requestText(request({ kind: 'plan_approval' })).sentence,
      'alice asks for approval of a plan: Split the router',
    );
    assert.equal(requestText(request({ kind: 'shutdown' })).sentence, 'lead asks alice to shut down');
    assert.equal(
      requestText(request({ kind: 'shutdown', from: 'human' })).sentence,
      'You asked alice to shut down',
    );
    const edit = { tool: 'write_file', toolUseId: 't', subject: 'src/a.js', access: 'edit' };
    assert.equal(requestText(request({ payload: edit })).sentence, 'alice wants to change src/a.js');
    assert.equal(requestText(request({ kind: 'team_proposal' })).label, 'Start alice');
  });

  it('does not fail on a payload it does not know', () => {
    const text = requestText(request({ payload: { strange: true } }));
    assert.equal(text.sentence, 'alice asks for a permission');
    assert.ok(!text.whole);
  });

  it('says how it ended', () => {
    assert.equal(outcomeText(request({ status: 'approved', decidedBy: 'human' })), 'approved by you');
    const decided = { status: 'rejected', decidedBy: 'human' } as const;
    assert.equal(outcomeText(request({ ...decided, via: 'ui' })), 'rejected by you');
    assert.equal(outcomeText(request({ ...decided, via: 'command' })), 'rejected by you, with a command');
    assert.equal(outcomeText(request({ ...decided, via: 'api' })), 'rejected by you, through the API');
    assert.equal(outcomeText(request({ status: 'rejected', decidedBy: 'lead' })), 'rejected by lead');
    assert.equal(
      outcomeText(request({ status: 'cancelled', cancelReason: 'superseded' })),
      'withdrawn: superseded',
    );
  });
});
