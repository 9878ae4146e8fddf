import assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import type { OpenTeam } from '../../src/agent/openTeam';
import { ReadOnlyError } from '../../src/agent/readOnly';
import { isLater, nextAdoption } from '../../src/team/lineage';
import { changed, noticesOf, spawn, Windows } from './support/windows';

/** Two editors on one folder: each has a storage of its own. */
const HERE = { storage: 'here', vault: 'here' };
const THERE = { storage: 'there', vault: 'there' };

describe('one folder, and a journal in each of two editors', function () {
  this.timeout(30_000);
  let windows: Windows;
  beforeEach(async () => {
    windows = await Windows.make();
  });
  afterEach(() => windows.close());

  const names = (team: OpenTeam) => team.core.members().map(({ name, status }) => `${name}:${status}`);
  const config = async () => JSON.parse(await fs.readFile(windows.file('config.json'), 'utf8'));
  const running = async (place: object) => {
    const team = await windows.open(place);
    await spawn(team.core);
    await team.core.whenIdle();
    return team;
  };

  it('the one whose team is adopted ends its work, is read-only, and shows who goes on with it', async () => {
    const here = await running(HERE);
    const there = await windows.open(THERE);
    assert.equal(there.core.readOnly?.kind, 'foreign');
    const lost = changed(here, 'core');
    await there.adopt();
    await lost;
    assert.deepEqual(here.core.readOnly, { kind: 'adopted', teamName: 'workspace' });
    await assert.rejects(spawn(here.core, 'bob'), (error) => {
      assert.ok(error instanceof ReadOnlyError);
      assert.match(error.message, /adopted by another window.*Adopt Team/);
      return true;
    });
    const before = await config();
    const listed = new Promise<void>((resolve) => {
      here.onDidChange(() => {
        if (here.core.member('bob')) resolve();
      });
    });
    await spawn(there.core, 'bob');
    await there.core.whenIdle();
    await listed;
    assert.equal((await config()).team_id, before.team_id);
    assert.equal(there.core.readOnly, undefined, 'the one that adopted it keeps it');
  });

  it('the one whose team was adopted while it was closed does not go on with it when it opens', async () => {
    const here = await running(HERE);
    await here.dispose();
    const there = await windows.open(THERE);
    await there.adopt();
    await spawn(there.core, 'bob');
    await there.core.whenIdle();
    const again = await windows.open(HERE);
    assert.equal(again.core.readOnly?.kind, 'adopted');
    await assert.rejects(again.takeOver(), ReadOnlyError);
    assert.equal(there.core.readOnly, undefined);
  });

  it('each can take it back by adopting it, and the other gives way', async () => {
    const here = await running(HERE);
    const there = await windows.open(THERE);
    const lost = changed(here, 'core');
    await there.adopt();
    await lost;
    await spawn(there.core, 'bob');
    await there.core.whenIdle();
    const lostThere = changed(there, 'core');
    await here.adopt();
    await lostThere;
    assert.equal(there.core.readOnly?.kind, 'adopted');
    assert.equal(here.core.readOnly, undefined);
    assert.deepEqual(names(here), ['alice:idle', 'bob:shutdown'], 'its own members are as they were');
    await here.core.whenIdle();
    assert.equal((await config()).adoption.count, 2);
    await here.dispose();
    assert.equal((await windows.open(HERE)).core.readOnly, undefined, 'from now on it is at home here');
  });

  it('mail that nobody was shown goes to whoever adopts it, each time', async () => {
    const here = await running(HERE);
    await here.dispose();
    const line = (content: string) => `${JSON.stringify({ type: 'message', from: 'ci', content })}\n`;
    await fs.appendFile(windows.file('inbox', 'lead.jsonl'), line('First.'));
    const there = await windows.open(THERE);
    await there.adopt();
    const has = (team: OpenTeam, content: string) =>
      team.core.unread('lead').some((message) => message.content === content);
    assert.equal(has(there, 'First.'), true);
    await there.dispose();
    await fs.appendFile(windows.file('inbox', 'lead.jsonl'), line('Second.'));
    const again = await windows.open(HERE);
    await again.adopt();
    assert.equal(has(again, 'Second.'), true);
  });

  it('two teams that were begun at the same time do not write over each other for ever, and both say so', async () => {
    const here = await windows.open(HERE);
    const there = await windows.open(THERE);
    const notices = [noticesOf(here), noticesOf(there)];
    const yielded = new Promise<void>((resolve) => {
      for (const team of [here, there]) {
        team.core.on((event) => {
          if (event.type === 'notice' && /is left to it/.test(event.text)) resolve();
        });
      }
    });
    await spawn(here.core);
    await here.core.whenIdle();
    await spawn(there.core);
    await yielded;
    for (const own of notices) assert.match(own.join('\n'), /another team|belongs to a team whose journal/);
    // Both work on; one of them has the folder.
    const { team_id } = await config();
    await spawn(here.core, 'bob');
    await spawn(there.core, 'bob');
    await Promise.all([here.core.whenIdle(), there.core.whenIdle()]);
    assert.equal((await config()).team_id, team_id);
  });
});

describe('the roster in .team', function () {
  this.timeout(30_000);
  let windows: Windows;
  beforeEach(async () => {
    windows = await Windows.make();
  });
  afterEach(() => windows.close());

  it('is written anew when somebody edits it, which is told once, and changes nothing', async () => {
    const team = await windows.open();
    await spawn(team.core);
    await team.core.whenIdle();
    const notices = noticesOf(team);
    const file = windows.file('config.json');
    const before = await fs.readFile(file, 'utf8');
    for (const text of [
      before.replace('"alice"', '"mallory"'),
      '{"team_name":',
      before.replace('coder', 'boss'),
    ]) {
      await fs.writeFile(file, text);
      await becomes(file, before);
    }
    assert.deepEqual(
      team.core.members().map(({ name, role }) => [name, role]),
      [['alice', 'coder']],
    );
    assert.equal(
      notices.filter((text) => /config\.json was changed by another program/.test(text)).length,
      1,
    );
  });

  it('is no reason for a word when the window writes it itself', async () => {
    const team = await windows.open();
    const notices = noticesOf(team);
    for (const name of ['alice', 'bob']) {
      for (let round = 0; round < 5; round++) {
        await spawn(team.core, name);
        await team.core.whenIdle();
        await team.core.forceStop(name);
      }
    }
    await team.core.whenIdle();
    assert.deepEqual(notices, []);
  });

  it('is not worth a word where the log beside it was edited, but for one', async () => {
    const team = await windows.open();
    await spawn(team.core);
    await team.core.whenIdle();
    const notices = noticesOf(team);
    const file = windows.file('log.jsonl');
    for (const line of ['{"event":"request","status":"approved"}\n', 'x\n']) {
      await fs.appendFile(file, line);
      await team.core.sendMessage('alice', 'Go on.');
      await team.core.whenIdle();
    }
    assert.equal(notices.filter((text) => /log\.jsonl was changed by another program/.test(text)).length, 1);
    assert.match(await fs.readFile(file, 'utf8'), /Go on\./);
  });

  it('names the newest of several adoptions, the same one in every window', () => {
    const first = nextAdoption(undefined, 'b');
    assert.deepEqual(first, { count: 1, id: 'b' });
    assert.deepEqual(nextAdoption(first, 'a'), { count: 2, id: 'a' });
    const order: [Parameters<typeof isLater>, boolean][] = [
      [[undefined, undefined], false],
      [[first, undefined], true],
      [[undefined, first], false],
      [[first, first], false],
      [[{ count: 2, id: 'a' }, first], true],
      [[first, { count: 1, id: 'a' }], true],
      [[{ count: 1, id: 'a' }, first], false],
    ];
    for (const [pair, later] of order) assert.equal(isLater(...pair), later, JSON.stringify(pair));
  });
});

/** Looks until the file has the text: whoever writes it tells nobody. */
async function becomes(file: string, text: string): Promise<void> {
  while ((await fs.readFile(file, 'utf8')) !== text) await new Promise((resolve) => setImmediate(resolve));
}
