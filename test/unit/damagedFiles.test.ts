import * as assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { CommandOutcome } from '../../src/workspace/port';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam, type TestTeam } from './support/team';
import { deferred, endless, resultTexts, shown, withOperations } from './support/turns';

const leadSeen = () => new ScriptedModel({}).always('lead', [text('Seen.')]);

async function damageLine(team: TestTeam, name: string, index: number): Promise<void> {
  const file = path.join(team.storageDir, 'transcripts', name);
  const lines = (await fs.readFile(file, 'utf8')).split('\n');
  lines[index] = (lines[index] ?? '').slice(0, -5);
  await fs.writeFile(file, lines.join('\n'));
}

describe('damaged files: transcripts', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  // The model of these tests refuses conversations that the API would not take.
  for (let line = 0; line < 6; line++) {
    it(`a conversation without its line ${line + 1} is still one that the API takes`, async () => {
      const model = leadSeen();
      model.add('lead', [call('list_teammates')], [text('Nobody.')], [call('read_inbox')], [text('Empty.')]);
      const team = await openTeam(model);
      await team.core.sendToLead('Who is here?');
      await team.core.sendToLead('Any mail?');
      await team.core.dispose();
      await damageLine(team, 'lead-1.jsonl', line);
      const again = await team.reopen();
      await again.core.sendToLead('And now?');
      assert.equal(shown(model.of('lead').at(-1)), 'And now?');
      assert.match(again.notices().join('\n'), /lead-1\.jsonl, line \d+, is damaged and was left out/);
    });
  }

  it('a call that had begun does not begin again, though a line before it is damaged', async () => {
    const begun = deferred();
    const workspace = withOperations(() => ({
      runCommand: () => {
        begun.resolve();
        return new Promise<CommandOutcome>(() => undefined);
      },
    }));
    const model = leadSeen();
    model.add('lead', [text('Hello.')], [call('bash', { command: 'x' })]);
    const team = await openTeam(model, { permissionMode: 'allow' }, undefined, { workspace });
    await team.core.sendToLead('Hi.');
    const turn = assert.rejects(team.core.sendToLead('Run.'), /was stopped/);
    await begun.promise;
    await team.core.dispose();
    await turn;
    await damageLine(team, 'lead-1.jsonl', 1);
    const again = await team.reopen();
    again.core.resume();
    await again.core.whenIdle();
    assert.match(resultTexts(model.of('lead').at(-1)).join(), /^Cut off: .*It may have run/);
  });
});

describe('damaged files: a transcript that cannot be read', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  /** A team of two, closed, and then the transcript of one is no file any more. */
  async function withUnreadable(name: string) {
    const model = leadSeen()
      .always('alice', [text('Ready.')])
      .always('bob', [text('Ready.')]);
    const team = await openTeam(model);
    for (const each of ['alice', 'bob'])
      await team.core.spawn({ name: each, role: 'coder', prompt: 'Go.' }, 'human');
    await team.core.whenIdle();
    await team.core.dispose();
    const file = path.join(team.storageDir, 'transcripts', `${name}-1.jsonl`);
    await fs.rename(file, `${file}.away`);
    await fs.mkdir(file);
    const mend = async () => {
      await fs.rmdir(file);
      await fs.rename(`${file}.away`, file);
    };
    return { model, team, file, mend };
  }

  it('fails its member alone, by name, and the others work', async () => {
    const { model, team, file, mend } = await withUnreadable('alice');
    const again = await team.reopen();
    const alice = again.core.member('alice');
    assert.equal(alice?.status, 'failed');
    assert.ok(alice.statusReason?.includes(file), alice.statusReason);
    const told = again.events.filter((event) => event.type === 'notice' && event.member === 'alice');
    assert.equal(told.length, 1, 'it is said once');
    await again.core.sendMessage('bob', 'Go on.');
    await again.core.whenIdle();
    assert.match(shown(model.of('bob').at(-1)) ?? '', /Go on/);
    assert.deepEqual(again.core.resumable().includes('alice'), true);

    // Still not readable: it has failed again, and says why.
    const calls = model.of('alice').length;
    await again.core.retry('alice');
    await again.core.whenIdle();
    assert.equal(again.core.member('alice')?.status, 'failed');
    await mend();
    await again.core.sendMessage('alice', 'Go on.');
    await again.core.whenIdle();
    assert.equal(again.core.member('alice')?.status, 'idle');
    assert.equal(model.of('alice').length, calls + 1);
    const messages = model.of('alice').at(-1)?.messages ?? [];
    assert.ok(messages.length >= 3, 'it has its conversation again');
  });

  it('fails the lead alone, and the lead goes on when the file is mended', async () => {
    const { model, team, file, mend } = await withUnreadable('lead');
    const again = await team.reopen();
    const lead = again.core.leadStatus();
    assert.equal(lead.status, 'failed');
    assert.ok(lead.reason?.includes(file), lead.reason);
    await again.core.sendMessage('bob', 'Go on.');
    await assert.rejects(again.core.sendToLead('Hello.'), (error) => String(error).includes(file));
    await mend();
    await again.core.sendToLead('And now?');
    assert.equal(again.core.leadStatus().status, 'idle');
    assert.match(JSON.stringify(model.of('lead').at(-1)?.messages), /Hello\..*And now\?/);
  });

  it('keeps the permission that its member waits for until it can be read', async () => {
    const model = leadSeen();
    model.add('alice', [call('bash', { command: 'true' })]);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    const { requestId } = await team.pending('tool_permission');
    await team.core.dispose();
    const file = path.join(team.storageDir, 'transcripts', 'alice-1.jsonl');
    await fs.rename(file, `${file}.away`);
    await fs.mkdir(file);
    const again = await team.reopen();
    assert.equal(again.core.request(requestId)?.status, 'pending');
    await again.core.dispose();
    await fs.rmdir(file);
    await fs.rename(`${file}.away`, file);
    const third = await again.reopen();
    assert.equal(third.core.request(requestId)?.status, 'pending');
  });
});

describe('damaged files: a journal that is older than its transcripts', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it('lets no namesake inherit a conversation that it does not know', async () => {
    const model = leadSeen().always('alice', [text('Ready.')]);
    const team = await openTeam(model);
    await team.core.sendToLead('Hi.');
    await team.core.whenIdle();
    const older = path.join(team.storageDir, 'older');
    await fs.cp(path.join(team.storageDir, 'journal'), older, { recursive: true });
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'The old task.' }, 'human');
    await team.core.whenIdle();
    await team.core.forceStop('alice');
    await team.core.dispose();
    await fs.rm(path.join(team.storageDir, 'journal'), { recursive: true });
    await fs.rename(older, path.join(team.storageDir, 'journal'));
    const again = await team.reopen();
    await again.core.spawn({ name: 'alice', role: 'coder', prompt: 'The new task.' }, 'human');
    await again.core.whenIdle();
    const seen = JSON.stringify(model.of('alice').at(-1)?.messages);
    assert.match(seen, /The new task/);
    assert.doesNotMatch(seen, /The old task/);
    assert.deepEqual(await fs.readdir(path.join(team.storageDir, 'transcripts', 'kept')), ['alice-1.jsonl']);
  });
});

describe('damaged files: a pipe in the place of an inbox', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  const itOnUnix = process.platform === 'win32' ? it.skip : it; // no pipes among Windows' files; runs on Linux, macOS
  itOnUnix('is named, and nobody waits for it', async () => {
    const model = leadSeen();
    const team = await openTeam(model);
    await team.core.sendToLead('Hi.');
    await team.core.whenIdle();
    const inbox = path.join(team.root, '.team', 'inbox', 'lead.jsonl');
    await fs.rm(inbox);
    execFileSync('mkfifo', [inbox]);
    await team.core.sendToLead('Still there?');
    await team.core.whenIdle();
    assert.match(team.notices().join('\n'), /lead.*not a regular file/);
    const again = await team.reopen();
    await again.core.sendToLead('And now?');
    assert.equal(model.of('lead').length, 3);
  });
});

describe('damaged files: a folder in the place of an inbox', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  /** What stands in `.team/inbox`, with the time of what was kept left out. */
  const inboxes = async (team: TestTeam): Promise<string[]> => {
    const names = await fs.readdir(path.join(team.root, '.team', 'inbox'));
    return names.map((name) => name.replace(/-[0-9a-z-]+$/, '')).sort();
  };

  for (const [when, name] of [
    ['before the window opens', 'alice.jsonl'],
    ['that an earlier window had put aside', 'alice.jsonl.taken-mabc-exa-1'],
  ] as const) {
    it(`${when}: it is kept beside and told once, and mail goes on`, async () => {
      const model = leadSeen()
        .always('alice', [text('Ready.')])
        .always('bob', [text('Ready.')]);
      const team = await openTeam(model);
      for (const each of ['alice', 'bob'])
        await team.core.spawn({ name: each, role: 'coder', prompt: 'Go.' }, 'human');
      await team.core.whenIdle();
      await team.core.dispose();
      const dir = path.join(team.root, '.team', 'inbox');
      if (name === 'alice.jsonl') await fs.rm(path.join(dir, name));
      await fs.mkdir(path.join(dir, name));
      await fs.writeFile(path.join(dir, name, 'mine.txt'), 'keep me');

      const again = await team.reopen();
      for (const each of ['alice', 'bob', 'alice', 'bob']) {
        await again.core.sendMessage(each, 'Go on.');
        await again.core.whenIdle();
      }
      const [notice, ...more] = again.notices();
      assert.deepEqual(more, []);
      assert.match(notice ?? '', /alice\.jsonl was a folder\. It is kept as alice\.jsonl\.damaged-/);
      const kept = (await fs.readdir(dir)).find((each) => each.includes('.damaged-')) ?? '';
      assert.equal(await fs.readFile(path.join(dir, kept, 'mine.txt'), 'utf8'), 'keep me');
      const names = ['alice.jsonl', 'alice.jsonl.damaged', 'bob.jsonl', 'lead.jsonl'];
      assert.deepEqual(await inboxes(again), names);

      const third = await again.reopen();
      await third.core.sendMessage('alice', 'And on.');
      await third.core.whenIdle();
      assert.deepEqual(third.notices(), []);
      assert.deepEqual(await inboxes(third), names);
    });
  }
});

describe('damaged files: links out of the workspace', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it('are not followed: the log and the inboxes', async () => {
    const model = leadSeen();
    const team = await openTeam(model);
    await team.core.sendToLead('Hi.');
    await team.core.dispose();
    const outside = path.join(team.storageDir, 'outside');
    const victim = path.join(team.storageDir, 'victim.txt');
    await fs.mkdir(outside);
    await fs.writeFile(path.join(outside, 'lead.jsonl'), 'mine');
    await fs.writeFile(victim, 'keep me');
    const dir = path.join(team.root, '.team');
    await fs.rm(path.join(dir, 'log.jsonl'));
    await fs.rm(path.join(dir, 'inbox'), { recursive: true });
    await fs.symlink(victim, path.join(dir, 'log.jsonl'));
    await fs.symlink(outside, path.join(dir, 'inbox'));
    const again = await team.reopen();
    await again.core.sendToLead('And now?');
    await again.core.whenIdle();
    assert.equal(await fs.readFile(victim, 'utf8'), 'keep me');
    assert.deepEqual(await fs.readdir(outside), ['lead.jsonl']);
    assert.equal(await fs.readFile(path.join(outside, 'lead.jsonl'), 'utf8'), 'mine');
    assert.match(again.notices().join('\n'), /inbox: it is a link/);
    await fs.rm(path.join(dir, 'inbox'));
    await again.core.sendToLead('Still?');
    await again.core.whenIdle();
    assert.equal(await fs.readFile(victim, 'utf8'), 'keep me');
    assert.match(again.notices().join('\n'), /log\.jsonl.*it is a link/);
  });
});

describe('damaged files: what a model writes into its calls', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it('does not pass for a message that was shown', async () => {
    const model = leadSeen();
    let id = '';
    const thinking = endless();
    model.add(
      'alice',
      [call('plan_approval', { plan: 'P' })],
      () => [call('read_inbox', { id: `${id}-answer` })],
      thinking.step,
    );
    const team = await openTeam(model);
    team.core.on((event) => {
      if (event.type === 'request' && event.change === 'opened') id ||= event.request.requestId;
    });
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await thinking.begun;
    await team.core.decide({ requestId: id, approve: false, feedback: 'No way.', by: 'human', via: 'ui' });
    const later = leadSeen().always('alice', [text('Read.')]);
    const again = await team.reopenAfterCrash(later);
    await again.core.sendMessage('alice', 'Go on.');
    await again.core.whenIdle();
    const seen = JSON.stringify(later.of('alice').map((request) => request.messages));
    assert.match(seen, /No way\./);
  });
});
