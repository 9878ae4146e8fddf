import * as assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { TeamEvent } from '../../src/team/events';
import { ScriptedModel } from './support/scriptedModel';
import { closeTeams, openTeam, type TestTeam } from './support/team';

const file = (team: TestTeam, name: string) => path.join(team.root, '.team', 'tasks', name);
const read = async (team: TestTeam, name: string): Promise<Record<string, unknown>> =>
  JSON.parse(await fs.readFile(file(team, name), 'utf8'));
const notice = (event: TeamEvent) => event.type === 'notice' && event.level === 'warning';

async function withTasks(): Promise<TestTeam> {
  const team = await openTeam(new ScriptedModel({}));
  await team.core.createTask({ subject: 'Parse', description: 'Write the parser.', priority: 2 });
  await team.core.createTask({ subject: 'Print', description: '', blockedBy: ['t1'] });
  await team.core.whenIdle();
  return team;
}

describe('the board in .team/tasks', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it('is a file a task, and a line in the log for each change', async () => {
    const team = await withTasks();
    const { created_at, ...first } = await read(team, 't1.json');
    assert.equal(typeof created_at, 'number');
    assert.deepEqual(first, {
      id: 't1',
      subject: 'Parse',
      description: 'Write the parser.',
      status: 'pending',
      priority: 2,
      blocked_by: [],
      notes: [],
      created_by: 'human',
    });
    await team.core.completeTask('t1', 'It parses.');
    await team.core.whenIdle();
    const done = await read(team, 't1.json');
    assert.deepEqual([done.status, done.result, done.owner], ['completed', 'It parses.', 'human']);
    assert.deepEqual((await read(team, 't2.json')).blocked_by, ['t1']);
    const log = await fs.readFile(path.join(team.root, '.team', 'log.jsonl'), 'utf8');
    const lines = log
      .split('\n')
      .flatMap((line) => (line.includes('"event":"task"') ? [JSON.parse(line)] : []));
    assert.deepEqual(
      lines.map(({ id, change, status }) => `${id} ${change} ${status}`),
      ['t1 created pending', 't2 created pending', 't1 completed completed'],
    );
  });

  it('what somebody changes in a file changes no task; it is told once, and the file is written anew', async () => {
    const team = await withTasks();
    const before = await fs.readFile(file(team, 't1.json'), 'utf8');
    for (const round of [1, 2]) {
      const renewed = round === 1 ? team.next(notice) : undefined;
      await fs.writeFile(file(team, 't1.json'), before.replace('"pending"', '"completed"'));
      await renewed;
      while ((await fs.readFile(file(team, 't1.json'), 'utf8')) !== before) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    assert.equal(team.core.task('t1')?.status, 'pending');
    const told = team.notices().filter((text) => text.includes('t1.json was changed by somebody else'));
    assert.equal(told.length, 1);
  });

  it('a file that is deleted comes back, and one that is put there is no task', async () => {
    const team = await withTasks();
    const before = await fs.readFile(file(team, 't2.json'), 'utf8');
    const deleted = team.next(notice);
    await fs.rm(file(team, 't2.json'));
    await deleted;
    await team.core.whenIdle();
    assert.equal(await fs.readFile(file(team, 't2.json'), 'utf8'), before);
    const put = team.next(notice);
    await fs.writeFile(file(team, 't9.json'), '{"id":"t9","subject":"Mine","status":"pending"}');
    assert.match(JSON.stringify(await put), /t9\.json was put there by somebody else/);
    assert.equal(team.core.task('t9'), undefined);
    assert.equal(team.core.tasks().length, 2);
  });

  it('what was changed while no window was open is written anew; what is damaged is kept beside', async () => {
    const team = await withTasks();
    await team.core.dispose();
    await fs.writeFile(file(team, 't1.json'), '{"id":"t1","status":"completed"}');
    await fs.writeFile(file(team, 't2.json'), '{"id":"t2",');
    const again = await team.reopen();
    await again.core.whenIdle();
    assert.equal((await read(again, 't1.json')).status, 'pending');
    assert.equal((await read(again, 't2.json')).subject, 'Print');
    const beside = (await fs.readdir(path.dirname(file(again, 't1.json')))).filter((name) =>
      /damaged/.test(name),
    );
    assert.equal(beside.length, 1);
    assert.match(again.notices().join(), /t2\.json is damaged/);
  });

  it('a link in the place of the folder is not followed', async () => {
    const team = await openTeam(new ScriptedModel({}));
    const elsewhere = path.join(path.dirname(team.root), 'elsewhere');
    await fs.mkdir(elsewhere);
    await fs.mkdir(path.join(team.root, '.team'));
    await fs.symlink(elsewhere, path.join(team.root, '.team', 'tasks'));
    const told = team.next((event) => event.type === 'notice' && event.level === 'error');
    await team.core.createTask({ subject: 'Parse', description: '' });
    assert.match(JSON.stringify(await told), /tasks: it is a link/);
    assert.deepEqual(await fs.readdir(elsewhere), []);
  });
});
