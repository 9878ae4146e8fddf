import * as assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import { ModelError } from '../../src/model/port';
import type { TeamEvent } from '../../src/team/events';
import { ScriptedModel } from './support/scriptedModel';
import { closeTeams, openTeam } from './support/team';

describe('a team that is opened', () => {
  afterEach(closeTeams);

  it('tells whoever listens later what was wrong with the folder', async () => {
    const home = await mkdtemp(path.join(await realpath(os.tmpdir()), 'handshake-'));
    const folder = path.join(home, 'workspace', '.team');
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'config.json'), '{"team_name": "x", "mem');
    const team = await openTeam(new ScriptedModel({}), {}, home);
    const later: TeamEvent[] = [];
    team.core.on((event) => void later.push(event));
    await team.core.whenIdle();
    const found = later.filter((event) => event.type === 'notice');
    assert.equal(found.length, 1);
    assert.match(
      found[0]?.text ?? '',
      /config\.json is damaged \(.+\)\. It is kept as config\.json\.damaged-\d+/,
    );
    assert.deepEqual(team.notices(), [found[0]?.text]);
    const beside = (await readdir(folder)).find((name) => name.startsWith('config.json.damaged-'));
    assert.equal(await readFile(path.join(folder, beside ?? ''), 'utf8'), '{"team_name": "x", "mem');
  });
});

describe('the log of a team', () => {
  afterEach(closeTeams);

  it('holds why a turn of the lead failed', async () => {
    const refuse = (): never => {
      throw new ModelError('bad_key', 'The endpoint refused the key. Set another.');
    };
    const team = await openTeam(new ScriptedModel({ lead: [refuse] }));
    await assert.rejects(team.core.sendToLead('Hello.'), /refused the key/);
    await team.core.whenIdle();
    const log = await readFile(path.join(team.root, '.team', 'log.jsonl'), 'utf8');
    const failed = log.split('\n').find((line) => line.includes('turn_failed')) ?? assert.fail(log);
    const { timestamp, ...rest }: Record<string, unknown> = JSON.parse(failed);
    assert.equal(typeof timestamp, 'number');
    assert.deepEqual(rest, {
      event: 'turn_failed',
      member: 'lead',
      kind: 'bad_key',
      text: 'The endpoint refused the key. Set another.',
    });
  });
});
