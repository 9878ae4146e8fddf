import assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { changed, spawn, Windows } from './support/windows';

describe('a storage that fails while the team is opened', function () {
  this.timeout(60_000);
  let windows: Windows;
  beforeEach(async () => {
    windows = await Windows.make();
  });
  afterEach(() => windows.close());

  /** What no disk gives: a folder in the place of the file that says who runs the team. */
  const block = async () => {
    const first = await windows.open();
    await spawn(first.core);
    await first.core.whenIdle();
    await first.dispose();
    const obstacle = path.join(windows.storage(), 'epoch-000900');
    await fs.mkdir(obstacle);
    return () => fs.rmdir(obstacle);
  };

  it('makes the window read-only, and it comes alive by itself when the storage works again', async () => {
    const clear = await block();
    const team = await windows.open({}, { retryMs: 10 });
    const reason = team.core.readOnly;
    assert.equal(reason?.kind, 'storage');
    assert.match(reason.text, /epoch-000900/);
    assert.deepEqual(
      team.core.members().map(({ name }) => name),
      ['alice'],
      'it can be looked at',
    );
    const changes: string[] = [];
    team.onDidChange((change) => void changes.push(change));
    const alive = changed(team, 'core');
    await clear();
    await alive;
    assert.equal(team.core.readOnly, undefined);
    assert.deepEqual(changes, ['core'], 'tries that failed are nothing to be told of');
    assert.equal((await spawn(team.core, 'bob')).status, 'idle');
  });

  it('is tried at once by Take Over', async () => {
    const clear = await block();
    const team = await windows.open({}, { retryMs: 60_000 });
    await assert.rejects(team.takeOver(), /epoch-000900.*It is tried again by itself/);
    await clear();
    await team.takeOver();
    assert.equal(team.core.readOnly, undefined);
  });

  it('that cannot give the words of the lead shows the rest of the team', async () => {
    const first = await windows.open();
    await first.core.sendToLead('Hello.');
    await spawn(first.core);
    await first.core.whenIdle();
    const file = path.join(windows.storage(), 'transcripts', 'lead-1.jsonl');
    await fs.rename(file, `${file}.away`);
    await fs.mkdir(file);
    const second = await windows.open();
    assert.deepEqual([second.core.readOnly?.kind, second.core.members().length], ['held', 1]);
    await assert.rejects(second.core.transcript('lead'), (error) => String(error).includes(file));
  });

  it('is left to the window that got it to work first', async () => {
    const clear = await block();
    const first = await windows.open({}, { retryMs: 10 });
    const second = await windows.open({}, { retryMs: 60_000 });
    const alive = changed(first, 'core');
    const told = changed(second, 'owner');
    await clear();
    await Promise.all([alive, told]);
    assert.equal(second.core.readOnly?.kind, 'held');
    const freed = changed(second, 'owner');
    await first.dispose();
    await freed;
    assert.equal(second.core.readOnly?.kind, 'free', 'what stood in its way is no reason any more');
  });
});
