import assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { ReadOnlyError } from '../../src/agent/readOnly';
import { changed, spawn, Windows } from './support/windows';

/** Two browsers on one server: one storage folder, and a secret storage each. */
const FIRST = { vault: 'first' };
const SECOND = { vault: 'second' };

describe('a journal that another key signed', function () {
  this.timeout(60_000);
  let windows: Windows;
  beforeEach(async () => {
    windows = await Windows.make();
  });
  afterEach(() => windows.close());

  /** The first browser founds the team, the second goes on with it, since it never had a key. */
  const wentOn = async () => {
    const first = await windows.open(FIRST);
    await spawn(first.core);
    await first.core.whenIdle();
    await first.dispose();
    const second = await windows.open(SECOND);
    assert.equal(second.core.readOnly, undefined);
    await spawn(second.core, 'bob');
    await second.core.whenIdle();
    return second;
  };

  it('makes the window read-only, with a reason of its own, and the team to be seen', async () => {
    await (await wentOn()).dispose();
    const journal = path.join(windows.storage(), 'journal');
    const before = await contents(journal);
    const again = await windows.open(FIRST);
    assert.deepEqual(again.core.readOnly, { kind: 'foreign_key' });
    assert.deepEqual(
      again.core.members().map(({ name }) => name),
      ['alice', 'bob'],
    );
    await assert.rejects(spawn(again.core, 'carol'), (error) => {
      assert.ok(error instanceof ReadOnlyError);
      assert.match(error.message, /another key.*Adopt Team/);
      return true;
    });
    await assert.rejects(again.takeOver(), ReadOnlyError);
    assert.deepEqual(again.core.readOnly, { kind: 'foreign_key' });
    assert.deepEqual(await contents(journal), before, 'nothing of it is touched');
  });

  it('is this window’s after Adopt Team: signed anew, its files kept, and said once', async () => {
    await (await wentOn()).dispose();
    const journal = path.join(windows.storage(), 'journal');
    const before = Object.keys(await contents(journal));
    const again = await windows.open(FIRST);
    await again.adopt();
    assert.equal(again.core.readOnly, undefined);
    assert.deepEqual(
      again.core.members().map(({ name }) => name),
      ['alice', 'bob'],
    );
    const notices: string[] = [];
    again.core.on((event) => {
      if (event.type === 'notice') notices.push(event.text);
    });
    await spawn(again.core, 'bob').catch((error: unknown) =>
      assert.match(String(error), /already in the team/),
    );
    assert.match(notices.join('\n'), /signed with another key.*It was adopted/);
    const kept = await fs.readdir(path.join(journal, 'kept'));
    for (const name of before) assert.ok(kept.includes(name), `${name} is kept`);
    await again.dispose();
    const third = await windows.open(FIRST);
    assert.equal(third.core.readOnly, undefined, 'from now on it is proven by the key of this window');
  });

  it('is told when the team is taken back from a living window, and then adopted', async () => {
    const second = await wentOn();
    const first = await windows.open(FIRST);
    assert.equal(first.core.readOnly?.kind, 'held');
    assert.equal(first.core.members().length, 2, 'it is to be seen though its lines are not proven here');
    const lost = changed(second, 'core');
    await assert.rejects(first.takeOver(), /another key/);
    await lost;
    assert.equal(first.core.readOnly?.kind, 'foreign_key');
    await first.adopt();
    assert.equal(first.core.readOnly, undefined);
    assert.equal(first.core.members().length, 2);
  });

  it('is not adopted by a word that meant something else', async () => {
    const second = await wentOn();
    const first = await windows.open(FIRST);
    assert.equal(first.core.readOnly?.kind, 'held');
    const lost = changed(second, 'core');
    // The human saw that another window runs it, and nothing of a key.
    await assert.rejects(first.adopt(), /another key/);
    await lost;
    assert.equal(first.core.readOnly?.kind, 'foreign_key');
  });
});

async function contents(dir: string): Promise<Record<string, string>> {
  const names = (await fs.readdir(dir)).filter((name) => name.endsWith('.jsonl')).sort();
  const texts = names.map(async (name) => [name, await fs.readFile(path.join(dir, name), 'utf8')] as const);
  return Object.fromEntries(await Promise.all(texts));
}
