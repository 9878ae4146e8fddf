import * as assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import { fileKey, keyOf } from '../../src/workspace/fileKey';
import { createNodeWorkspace } from '../../src/workspace/node';
import { heldTeam, replayed } from './support/heldJournal';
import { call, ScriptedModel, type Step, text } from './support/scriptedModel';
import { closeTeams, openTeam } from './support/team';
import { endless, resultTexts } from './support/turns';

const spawn = (name: string) => call('spawn_teammate', { name, role: 'coder', prompt: 'Change a.ts.' });
const edit = (old_text: string, new_text: string) => call('edit_file', { path: 'a.ts', old_text, new_text });
const read = () => call('read_file', { path: 'a.ts' });
const TOLD =
  /^Not run: a\.ts: alice has been changing it for alice-1\.1 since \d{4}-\d\d-\d\dT.*Z \(\d+ s ago\)\. .*send_message.*read it again/;

describe('two members that change one file', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  /** Alice edits and stays at work; then bob does what the test says. */
  async function overlapping(bob: readonly Step[]) {
    // Her second call streams until she is stopped.
    const { step, begun } = endless();
    const model = new ScriptedModel({
      lead: [[spawn('alice')], () => begun.then(() => [spawn('bob')]), [text('Started.')]],
      alice: [[edit('one', 'ONE')], step],
      bob,
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model, { permissionMode: 'allow' });
    await fs.writeFile(path.join(team.root, 'a.ts'), 'one\ntwo\nthree\n');
    return { model, team };
  }

  it('the second is told first, and goes on knowingly once it has read the file again', async () => {
    const { model, team } = await overlapping([
      [edit('two', 'TWO')],
      [edit('two', 'TWO')],
      [read()],
      [edit('two', 'TWO')],
      [text('Done.')],
    ]);
    await team.core.sendToLead('Go.');
    await team.next((event) => event.type === 'turn_ended' && event.member === 'bob');
    const [, told, again, , done] = model.of('bob').map((request) => resultTexts(request)[0] ?? '');
    assert.match(told ?? '', TOLD);
    assert.match(again ?? '', /^Not run: a\.ts is being changed by alice too\. Read it as it is now/);
    assert.equal(done, 'Edited a.ts');
    assert.equal(await fs.readFile(path.join(team.root, 'a.ts'), 'utf8'), 'ONE\nTWO\nthree\n');
    const notices = team.notices().filter((line) => line.includes('a.ts'));
    assert.deepEqual(notices, [
      'bob was about to change a.ts, which alice (alice-1.1) changes already. It was told first.',
      'bob changes a.ts as well, and knows of alice (alice-1.1).',
    ]);
    await team.core.forceStop('alice');
  });
});

describe('leases', () => {
  const file = { key: '/w/a.ts', path: 'a.ts', isKnown: true };

  async function scene() {
    const made = heldTeam();
    const { team } = made;
    for (const name of ['alice', 'bob']) await team.spawn({ name, role: 'coder', prompt: 'Go.' }, 'lead');
    const as = (name: string) => {
      const changer = team.leases.changer(name, name === 'lead' ? 0 : team.state.lastIncarnation(name));
      assert.ok(changer);
      return changer;
    };
    let ids = 0;
    const take = (name: string, touched = file) =>
      team.leases.take(touched, as(name), (records) =>
        team.marks.begun(
          { member: name, incarnation: as(name).incarnation, id: `c${++ids}` },
          'edit_file',
          1,
          records,
        ),
      );
    const ask = (name: string, touched = file) => team.leases.refusal(touched, as(name), () => undefined);
    const holders = () => team.state.leases.all().map(({ member }) => member);
    return { ...made, as, take, ask, holders };
  }

  it('are written with the mark of the call, survive a reload, and a snapshot', async () => {
    const { team, take, ask, journal } = await scene();
    await take('alice');
    await take('alice');
    assert.deepEqual(journal.kinds().slice(-3), ['started', 'lease', 'started']);
    assert.match((await ask('bob')) ?? '', /^Not run: a\.ts: alice has been changing it/);
    const { state } = replayed(journal.written).ledger;
    assert.deepEqual(state.leases.all(), team.state.leases.all());
    assert.equal(state.leases.all().length, 1);
    const kept = replayed(state.snapshot()).ledger.state;
    assert.deepEqual(kept.leases.snapshot(), state.leases.snapshot());
    assert.deepEqual(kept.leases.snapshot().length, 1);
    // Told once, over a reload too.
    const [lease] = kept.leases.all();
    assert.ok(lease && kept.leases.isTold(lease, { member: 'bob', incarnation: 1, task: 'bob-1.1' }));
    assert.equal(await ask('bob'), undefined);
  });

  it('hold from the tick in which a call begins, and a failed write holds nothing', async () => {
    const { take, ask, journal, holders, team, as } = await scene();
    journal.held = true;
    const taking = take('alice');
    assert.equal(team.leases.hasNews(file, as('bob')), true);
    assert.deepEqual(holders(), []);
    await journal.arrived(1);
    journal.fail(new Error('ENOSPC'));
    await assert.rejects(taking, /ENOSPC/);
    journal.release();
    assert.equal(team.leases.hasNews(file, as('bob')), false);
    assert.equal(await ask('bob'), undefined);
  });

  it('end with the task, the idle notice, a shutdown, a failure, a force stop, and a new start', async () => {
    const ends: Record<string, (made: Awaited<ReturnType<typeof scene>>) => Promise<unknown>> = {
      'the next assignment': ({ team }) => team.requestPlan('lead', 'alice'),
      'the end of the assignment': ({ team }) => team.report('alice', 'Done.'),
      'a shutdown': ({ team }) => team.end('alice', 1, 'shutdown', undefined),
      'a failure': ({ team }) => team.end('alice', 1, 'failed', 'No model.'),
      'a task that is claimed': async ({ team }) => {
        const { id } = await team.board.create({ subject: 'S', description: '' }, 'lead');
        await team.board.claim(id, { name: 'alice', incarnation: 1 });
      },
    };
    for (const [way, end] of Object.entries(ends)) {
      const made = await scene();
      await made.take('alice');
      assert.deepEqual(made.holders(), ['alice']);
      await end(made);
      assert.deepEqual(made.holders(), [], way);
      assert.equal(await made.ask('bob'), undefined, way);
    }
    const { take, ask, team } = await scene();
    await take('alice');
    team.fence('alice', 1);
    // In the tick of the force stop, before anything is written.
    assert.equal(await ask('bob'), undefined);
  });

  it('of a task on the board last until it is completed, or taken back', async () => {
    for (const end of ['complete', 'release'] as const) {
      const made = await scene();
      const { team, take, holders } = made;
      const { id } = await team.board.create({ subject: 'S', description: '' }, 'lead');
      await team.board.claim(id, { name: 'alice', incarnation: 1 });
      await take('alice');
      await team.report('alice', 'Not done yet.');
      assert.deepEqual(holders(), ['alice']);
      assert.match((await made.ask('bob')) ?? '', new RegExp(`for ${id} \\(S\\) since`));
      if (end === 'complete') await team.board.complete(id, { name: 'alice', incarnation: 1 }, 'Done.');
      else await team.board.release(id, 'human');
      assert.deepEqual(holders(), [], end);
    }
  });

  it('of the lead end with its turn, and nobody is in the way of itself', async () => {
    const { team, take, ask, holders } = await scene();
    await take('lead');
    assert.equal(await ask('lead'), undefined);
    assert.match((await ask('alice')) ?? '', /^Not run: a\.ts: lead has been changing it since/);
    await team.leases.endOfTurn();
    assert.deepEqual(holders(), []);
    await team.leases.endOfTurn();
  });

  it('are of one file each: another file is nobody’s', async () => {
    const { take, ask } = await scene();
    await take('alice');
    assert.equal(await ask('bob', { ...file, key: '/w/.team/worktrees/t1/a.ts' }), undefined);
  });

  it('name the first of several holders, and a third is told of both at once', async () => {
    const { team, take, ask } = await scene();
    await team.spawn({ name: 'carl', role: 'coder', prompt: 'Go.' }, 'lead');
    await take('alice');
    await ask('bob');
    await take('bob');
    assert.match((await ask('carl')) ?? '', /alice has been changing it.*; bob has been changing it/);
    assert.match((await ask('alice')) ?? '', /^Not run: a\.ts: bob has/);
    assert.equal(await ask('alice'), undefined);
  });
});

describe('the key of a file', () => {
  let root: string;
  beforeEach(async () => {
    root = await fs.mkdtemp(path.join(await fs.realpath(os.tmpdir()), 'keys-'));
  });
  afterEach(() => fs.rm(root, { recursive: true, force: true }));

  it('is one for all its names, links too, and tells whether the member has seen it', async () => {
    await fs.writeFile(path.join(root, 'a.ts'), 'x');
    await fs.symlink('a.ts', path.join(root, 'same.ts'));
    const view = createNodeWorkspace(root).forMember('bob');
    const own = await view.identify('./a.ts');
    assert.deepEqual(own, { key: path.join(root, 'a.ts'), path: 'a.ts', isKnown: false, steers: false });
    assert.equal((await view.identify('same.ts')).key, own.key);
    await view.readFile('same.ts');
    assert.equal((await view.identify('a.ts')).isKnown, true);
    view.forget(own);
    assert.equal((await view.identify('a.ts')).isKnown, false);
    assert.equal((await view.identify('sub/new.ts')).isKnown, true);
    await assert.rejects(view.identify('../x'), /outside the workspace/);
    await assert.rejects(view.identify('.git/config'), /belongs to git/);
  });

  it('takes names that differ in case for one only where the folder does', async () => {
    const upper = path.join(root, 'A.ts');
    const lower = path.join(root, 'a.ts');
    await fs.writeFile(lower, 'x');
    const isOne = await fs.stat(upper).then(
      () => true,
      () => false,
    );
    assert.equal((await fileKey(upper)) === (await fileKey(lower)), isOne);
    assert.equal(keyOf('/w/\u0041\u030a.TS', true), keyOf('/w/\u00e5.ts', true));
    assert.notEqual(keyOf('/w/A.ts', false), keyOf('/w/a.ts', false));
    assert.equal(await fileKey(path.join(root, 'new', 'x.ts')), keyOf(path.join(root, 'new', 'x.ts'), isOne));
  });
});
