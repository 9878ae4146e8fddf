import * as assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { nodeFileSystem } from '../../src/store';
import { type Step, tappedFileSystem } from '../crash/tappedFileSystem';
import { ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam, type TestTeam } from './support/team';
import { deferred, shown } from './support/turns';

const CODES = ['ENOSPC', 'EACCES', 'EIO', 'short'] as const;

/** A disk on which one file cannot be written, for as long as the test says. */
class Disk {
  /** A part of the paths that fail; nothing fails while it is undefined. */
  broken: string | undefined;
  code: (typeof CODES)[number] = 'EIO';
  #isFull = false;

  readonly fileSystem = tappedFileSystem(nodeFileSystem, (step, run) => {
    if (this.broken === undefined || !step.path.includes(this.broken)) return run();
    // A full disk lets go of what is on it.
    if (this.code === 'short' && (step.name === 'unlink' || step.name === 'truncate')) return run();
    if (this.code !== 'short' || this.#isFull) return this.#fail(step);
    // Half of the first write is taken, and then no more.
    this.#isFull = step.name === 'write' && step.bytes > 0;
    return run(this.#isFull ? Math.ceil(step.bytes / 2) : undefined);
  });

  breakFile(part: string, code: (typeof CODES)[number]): void {
    this.broken = part;
    this.code = code;
    this.#isFull = false;
  }

  #fail({ name, path: file }: Step): Promise<never> {
    const code = this.code === 'short' ? 'ENOSPC' : this.code;
    return Promise.reject(Object.assign(new Error(`${code}: ${name} '${file}'`), { code }));
  }
}

const obedient = () =>
  new ScriptedModel({}).always('lead', [text('Seen.')]).always('alice', [text('Ready.')]);

async function openOn(disk: Disk, model = obedient()): Promise<TestTeam> {
  return openTeam(model, {}, undefined, { fileSystem: disk.fileSystem });
}

const inTeam = (team: TestTeam, ...parts: string[]): string => path.join(team.root, '.team', ...parts);

async function jsonLines(file: string): Promise<Record<string, unknown>[]> {
  const content = await fs.readFile(file, 'utf8');
  assert.ok(content === '' || content.endsWith('\n'), `${file} ends in the middle of a line`);
  return content
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

describe('faults of the disk: the end of a window', function () {
  this.timeout(60_000);
  afterEach(closeTeams);

  for (const code of ['ENOSPC', 'EIO'] as const) {
    it(`${code}: ends cleanly, says what was not written, and loses nothing that was`, async () => {
      const disk = new Disk();
      const team = await openOn(disk);
      await team.core.sendToLead('Hello.');
      await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
      await team.core.whenIdle();
      disk.breakFile('', code);
      await assert.rejects(team.core.sendMessage('alice', 'Lost.'), (error) => String(error).includes(code));
      await team.core.dispose();
      assert.match(team.notices().join('\n'), /The team was closed, and this was not written: .*storage/);
      disk.broken = undefined;
      const again = await team.reopen();
      assert.equal(again.core.member('alice')?.status, 'idle');
      const conversation = JSON.stringify(await again.core.transcript('lead'));
      assert.match(conversation, /Hello\./);
    });
  }
});

describe('faults of the disk: which file it is', function () {
  this.timeout(60_000);
  afterEach(closeTeams);

  for (const code of CODES) {
    for (const file of ['config.json', 'log.jsonl', path.join('inbox', 'alice.jsonl')]) {
      it(`${code}: names .team/${file}, works on, and writes it when it can`, async () => {
        const disk = new Disk();
        const model = obedient();
        const [begun, release] = [deferred(), deferred()];
        model.add('alice', async () => {
          begun.resolve();
          await release.promise;
          return [text('Ready.')];
        });
        const team = await openOn(disk, model);
        await team.core.sendToLead('Hello.');
        await team.core.whenIdle();
        // Without the end, which a copy that is being written does not have.
        disk.breakFile(file.replace(/\.\w+$/, ''), code);
        const isNamed = (notice: string): boolean => notice.includes(inTeam(team, file));
        const told = team.next((event) => event.type === 'notice' && isNamed(event.text));
        await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
        await begun.promise;
        await team.core.sendMessage('alice', 'Wait.');
        await told;
        assert.equal(team.core.member('alice')?.status, 'working');

        release.resolve();
        await team.core.whenIdle();
        const named = team.notices().filter((each) => isNamed(each) && each.includes('cannot be written'));
        assert.equal(named.length, 1, named.join('\n'));
        assert.match(named[0] ?? '', /The team works on from its journal/);
        disk.broken = undefined;
        await team.core.sendMessage('alice', 'Once more.');
        await team.core.whenIdle();
        assert.deepEqual(
          (await team.config()).members.map(({ name, status }) => `${name} ${status}`),
          ['alice idle'],
        );
        assert.deepEqual(await jsonLines(inTeam(team, 'inbox', 'alice.jsonl')), []);
        const sent = (await jsonLines(inTeam(team, 'log.jsonl')))
          .filter(({ event, to }) => event === 'message' && to === 'alice')
          .map(({ content }) => content);
        assert.deepEqual(sent, ['Go.', 'Wait.', 'Once more.']);
        const left = await fs.readdir(inTeam(team));
        assert.deepEqual(left.sort(), ['.gitignore', 'config.json', 'inbox', 'log.jsonl']);
      });
    }

    it(`${code}: names a transcript; the message is shown, once, when it can be`, async () => {
      const disk = new Disk();
      const model = obedient();
      const team = await openOn(disk, model);
      await team.core.sendToLead('One.');
      disk.breakFile('lead-1.jsonl', code);
      await assert.rejects(team.core.sendToLead('Two.'), (error) => {
        assert.ok(error instanceof Error);
        assert.match(error.message, /transcripts.lead-1\.jsonl/);
        return true;
      });
      assert.equal(team.core.leadStatus().status, 'failed');
      disk.broken = undefined;
      await team.core.retry('lead');
      await team.core.whenIdle();
      assert.equal(shown(model.of('lead').at(-1)), 'Two.');
      await team.core.sendToLead('Three.');
      const said = JSON.stringify(model.of('lead').at(-1)?.messages);
      for (const words of ['One.', 'Two.', 'Three.']) assert.equal(said.split(words).length, 2, words);
      const later = obedient();
      const again = await team.reopen(later);
      await again.core.sendToLead('Four.');
      assert.deepEqual(later.of('lead').at(-1)?.messages.slice(0, -2), model.of('lead').at(-1)?.messages);
    });

    it(`${code}: names the journal; what was refused did not happen, and happens when it can`, async () => {
      const disk = new Disk();
      const team = await openOn(disk);
      await team.core.sendToLead('Hello.');
      disk.breakFile(path.join('storage', 'journal'), code);
      const order = { name: 'alice', role: 'coder', prompt: 'Go.' };
      await assert.rejects(team.core.spawn(order, 'human'), (error) => {
        assert.ok(error instanceof Error);
        assert.match(error.message, /^Could not write .*journal.\d{6}\.jsonl/);
        return true;
      });
      assert.deepEqual(team.core.members(), []);
      disk.broken = undefined;
      await team.core.spawn(order, 'human');
      await team.core.whenIdle();
      const again = await team.reopen(obedient());
      assert.deepEqual(
        again.core.members().map(({ name, incarnation, status }) => `${name} ${incarnation} ${status}`),
        ['alice 1 idle'],
      );
      assert.deepEqual(
        again.notices().filter((notice) => /damaged|missing|gap/.test(notice)),
        [],
      );
    });
  }
});

describe('faults of the disk: lines of other programs', function () {
  this.timeout(60_000);
  afterEach(closeTeams);

  const foreign = (content: string): string => JSON.stringify({ type: 'message', from: 'ci', content });

  it('one whose taking in failed is taken in by itself when the disk is well again', async () => {
    const disk = new Disk();
    const model = obedient();
    const team = await openOn(disk, model);
    await team.core.sendToLead('Hello.');
    await team.core.whenIdle();
    disk.breakFile(path.join('storage', 'journal'), 'ENOSPC');
    const failed = team.next((event) => event.type === 'notice' && /inbox of lead/.test(event.text));
    await fs.appendFile(inTeam(team, 'inbox', 'lead.jsonl'), `${foreign('The build is red.')}\n`);
    await failed;
    const arrived = team.next((event) => event.type === 'message' && event.message.to === 'lead');
    disk.broken = undefined;
    await arrived;
    await team.core.whenIdle();
    const said = JSON.stringify(model.of('lead').at(-1)?.messages);
    assert.equal(said.split('The build is red.').length, 2);
    assert.deepEqual(await fs.readdir(inTeam(team, 'inbox')), ['lead.jsonl']);
  });

  it('one behind a write of ours that a crash cut off is read; of ours nothing is said', async () => {
    const team = await openTeam(obedient());
    await team.core.sendToLead('Hello.');
    await team.core.whenIdle();
    const inbox = inTeam(team, 'inbox', 'lead.jsonl');
    const [ours] = (await jsonLines(inTeam(team, 'log.jsonl'))).flatMap(({ id }) => (id ? [id] : []));
    await team.core.dispose();
    const whole = JSON.stringify({ id: ours, type: 'message', from: 'human', content: 'Hello.' });
    for (const length of [4, 20, 47, whole.length - 1]) {
      await fs.appendFile(inbox, `${whole.slice(0, length)}\n`);
    }
    await fs.appendFile(inbox, whole.slice(0, -8) + foreign('The build is red.'));
    const later = obedient();
    const again = await team.reopen(later);
    await again.core.whenIdle();
    assert.match(shown(later.of('lead').at(-1)), /external="true">\nThe build is red\.\n/);
    assert.deepEqual(again.notices(), []);
    assert.deepEqual(await fs.readdir(inTeam(again, 'inbox')), ['lead.jsonl']);
  });

  it('one that came before the inboxes were watched is taken in', async () => {
    const disk = new Disk();
    let written = false;
    const fileSystem = tappedFileSystem(disk.fileSystem, async (step, run) => {
      const result = await run();
      // The last step of the first round of writing, behind which the watch begins.
      if (!written && step.path.endsWith('log.jsonl') && step.name === 'write') {
        written = true;
        const inbox = path.join(path.dirname(step.path), 'inbox', 'lead.jsonl');
        await fs.appendFile(inbox, `${foreign('The build is red.')}\n`);
      }
      return result;
    });
    const model = obedient();
    const team = await openTeam(model, {}, undefined, { fileSystem });
    const arrived = team.next((event) => event.type === 'message' && event.message.external === true);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await arrived;
    await team.core.whenIdle();
    assert.match(JSON.stringify(model.of('lead').at(-1)?.messages), /The build is red\./);
  });

  it('what a crash left unfinished is cleared away', async () => {
    const team = await openTeam(obedient());
    await team.core.sendToLead('Hello.');
    await team.core.whenIdle();
    await team.core.dispose();
    await fs.writeFile(inTeam(team, '.config.json.0123456789ab.tmp'), '{"team_');
    await fs.writeFile(inTeam(team, 'inbox', '.lead.jsonl.0123456789ab.tmp'), '');
    await fs.appendFile(inTeam(team, 'log.jsonl'), '{"event":"mess');
    const again = await team.reopen(obedient());
    await again.core.whenIdle();
    await jsonLines(inTeam(again, 'log.jsonl'));
    assert.deepEqual((await fs.readdir(inTeam(again))).sort(), [
      '.gitignore',
      'config.json',
      'inbox',
      'log.jsonl',
    ]);
    assert.deepEqual(await fs.readdir(inTeam(again, 'inbox')), ['lead.jsonl']);
  });
});
