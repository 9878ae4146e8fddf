import assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import type { Core } from '../../src/agent/coreApi';
import { FollowedTeam } from '../../src/agent/followedTeam';
import { type OpenTeam, openTeam } from '../../src/agent/openTeam';
import { ReadOnlyError } from '../../src/agent/readOnly';
import type { LanguageModel } from '../../src/model/port';
import { HUMAN } from '../../src/protocol';
import { doingText } from '../../src/ui/doingText';
import { createNodeWorkspace } from '../../src/workspace/node';
import { fileVault } from './support/fileVault';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { testSettings } from './support/settings';
import { CHILD_HOME, runTeamChild, stateOf, TeamChild } from './support/teamChild';

const childHome = process.env[CHILD_HOME];
if (childHome !== undefined) runTeamChild(childHome);
else {
  describe('windows on one team', function () {
    // Processes are started, on machines that have other things to do.
    this.timeout(60_000);
    windowTests();
  });
}

function windowTests(): void {
  let home: string;
  let open: OpenTeam[];
  let children: TeamChild[];
  let logged: string[];
  let model: LanguageModel;

  beforeEach(async () => {
    home = await fs.mkdtemp(path.join(await fs.realpath(os.tmpdir()), 'handshake-windows-'));
    await fs.mkdir(path.join(home, 'workspace'));
    open = [];
    children = [];
    logged = [];
    model = new ScriptedModel({})
      .always('lead', [text('Yes.')])
      .always('alice', [text('Done.')])
      .always('bob', [text('Done.')]);
  });

  afterEach(async () => {
    await Promise.all(children.map((child) => child.kill()));
    await Promise.all(open.map((team) => team.dispose()));
    await fs.rm(home, { recursive: true, force: true });
    if (model instanceof ScriptedModel) assert.deepEqual(model.problems, []);
  });

  const file = (...parts: string[]) => path.join(home, 'workspace', '.team', ...parts);
  const openWindow = async (options: { graceMs?: number; storage?: string } = {}) => {
    const team = await openTeam({
      workspace: createNodeWorkspace(path.join(home, 'workspace')),
      storageDir: path.join(home, options.storage ?? 'storage'),
      vault: fileVault(path.join(home, 'vault')),
      settings: () => testSettings({ permissionMode: 'allow' }),
      languageModel: async () => model,
      log: (_level, line) => void logged.push(line),
      graceMs: options.graceMs ?? 0,
      patienceMs: 2000,
    });
    open.push(team);
    return team;
  };
  const window = async () => {
    const child = await TeamChild.start(__filename, home);
    children.push(child);
    return child;
  };
  const spawn = (core: Core, name = 'alice') => core.spawn({ name, role: 'coder', prompt: 'Work.' }, HUMAN);
  const changed = (team: OpenTeam, what: 'core' | 'owner') =>
    new Promise<void>((resolve) => {
      const listening = team.onDidChange((change) => {
        if (change !== what) return;
        listening.dispose();
        resolve();
      });
    });
  const until = (core: Core, holds: () => boolean) =>
    new Promise<void>((resolve) => {
      const listening = core.on(() => {
        if (!holds()) return;
        listening.dispose();
        resolve();
      });
      if (holds()) {
        listening.dispose();
        resolve();
      }
    });
  const state = (team: OpenTeam) => stateOf(team);

  it('case 21: one runs it, the other shows it, and takes over when the first is gone', async () => {
    const first = await window();
    assert.deepEqual(await first.order('open'), { readOnly: '', members: [] });
    const second = await openWindow();
    assert.deepEqual(state(second), { readOnly: 'held', pid: first.pid, members: [] });
    await first.order('spawn', 'alice');
    await until(second.core, () => second.core.members().length === 1);
    await assert.rejects(spawn(second.core, 'bob'), ReadOnlyError);

    const told = changed(second, 'owner');
    await first.kill();
    await told;
    assert.equal(second.core.readOnly?.kind, 'free', 'it does not take over by itself');
    const swapped = changed(second, 'core');
    await second.takeOver();
    await swapped;
    assert.deepEqual(state(second), { readOnly: '', members: ['alice:idle'] });
    assert.equal((await spawn(second.core, 'bob')).status, 'idle');
  });

  it('case 21: a living one pauses, becomes read-only, and says who has the team', async () => {
    const first = await openWindow();
    await spawn(first.core);
    await first.core.whenIdle();
    const second = await window();
    assert.deepEqual((await second.order('open')).readOnly, 'held');
    const lost = changed(first, 'core');
    assert.deepEqual(await second.order('takeOver'), { readOnly: '', members: ['alice:idle'] });
    await Promise.all([lost, second.hears('core')]);
    assert.deepEqual(state(first), { readOnly: 'held', pid: second.pid, members: ['alice:idle'] });
    await assert.rejects(first.core.sendToLead('hello'), (error) => {
      assert.ok(error instanceof ReadOnlyError);
      assert.match(error.message, new RegExp(`process ${second.pid}\\b.*Take Over`));
      return true;
    });
    // And back again.
    await first.takeOver();
    await second.hears('core');
    assert.equal((await second.order('state')).pid, process.pid);
    assert.equal(state(first).readOnly, '');
  });

  it('one that slept while it was taken over writes nothing more, and shows the team when it wakes', async () => {
    const sleeper = await window();
    await sleeper.order('open');
    await sleeper.order('spawn', 'alice');
    sleeper.signal('SIGSTOP');
    const second = await openWindow();
    await second.takeOver();
    assert.ok(logged.some((line) => /by force: .*did not answer/.test(line)));
    await spawn(second.core, 'bob');
    sleeper.signal('SIGCONT');
    await sleeper.hears('core');
    const seen = await sleeper.order('state');
    assert.deepEqual([seen.readOnly, seen.pid], ['held', process.pid]);
    await assert.rejects(sleeper.order('spawn', 'carol'), /Another window/);
  });

  it('what was at work when it was taken over is cut off, and says so to the model', async () => {
    const script = new ScriptedModel({
      lead: [[text('Yes.')]],
      alice: [[call('bash', { command: 'sleep 60' })], [text('Again.')]],
    });
    model = script.always('lead', [text('Yes.')]);
    const first = await openWindow();
    await spawn(first.core);
    await until(first.core, () => doingText(first.core.activity('alice')).includes('sleep 60'));
    const second = await openWindow();
    await second.takeOver();
    assert.deepEqual(second.core.resumable(), ['alice']);
    second.core.resume();
    await second.core.whenIdle();
    const [, again] = script.of('alice');
    const results = again?.messages.flatMap((turn) =>
      turn.content.flatMap((block) => (block.type === 'tool_result' ? [block] : [])),
    );
    assert.equal(results?.length, 1);
    assert.match(results?.[0]?.content ?? '', /stopped|cut off/i);
  });

  it('a window that only shows the team writes nothing', async () => {
    const first = await openWindow();
    await spawn(first.core);
    await first.core.whenIdle();
    await first.dispose();
    const before = await snapshot(home);
    const holder = await window();
    await holder.order('open');
    const held = await snapshot(home);
    const second = await openWindow();
    assert.equal(state(second).readOnly, 'held');
    await second.dispose();
    assert.deepEqual(await snapshot(home), held);
    assert.notDeepEqual(held, before, 'the owner has claimed the next epoch');
  });

  it('follows requests, mail and the words of the lead', async () => {
    const first = await openWindow();
    const second = await openWindow();
    const events: string[] = [];
    second.core.on((event) => {
      if (event.type === 'assistant') events.push(`${event.member}: ${event.text}`);
      if (event.type === 'message') events.push(`${event.message.from} to ${event.message.to}`);
      if (event.type === 'request') events.push(`${event.change} ${event.request.kind}`);
    });
    const seen = until(second.core, () => ['lead: Yes.', 'human to lead'].every((x) => events.includes(x)));
    await first.core.sendToLead('Are you there?');
    await seen;
    await spawn(first.core);
    await first.core.whenIdle();
    const asked = until(second.core, () => events.includes('opened shutdown'));
    const request = await first.core.requestShutdown('alice');
    await asked;
    assert.equal(second.core.request(request.requestId)?.kind, 'shutdown');
    assert.match(second.core.describeTeam(), /alice \(coder\)/);
    assert.equal((await second.core.transcript('lead')).length > 0, true);
    await assert.rejects(
      second.core.decide({ requestId: request.requestId, approve: true, by: HUMAN, via: 'ui' }),
      ReadOnlyError,
    );
  });

  it('shows who works, as the owner says, and nobody once it is gone', async () => {
    let go: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    model = new ScriptedModel({
      alice: [
        async () => {
          await held;
          return [text('Done.')];
        },
      ],
    })
      .always('lead', [text('Yes.')])
      .always('alice', [text('Done.')]);
    const first = await openWindow();
    const second = await openWindow();
    const status = () => second.core.member('alice')?.status;
    const works = until(second.core, () => status() === 'working');
    await spawn(first.core);
    await works;
    const told = changed(second, 'owner');
    const idle = until(second.core, () => status() === 'idle');
    await first.dispose();
    await Promise.all([told, idle]);
    assert.equal(second.core.readOnly?.kind, 'free');
    go();
  });

  it('goes on when the journal was made smaller meanwhile', async () => {
    const lines = (...names: string[]) =>
      names.map((name, index) => ({
        record: {
          t: 'mail',
          message: {
            id: name,
            type: 'message',
            from: 'alice',
            to: 'lead',
            toIncarnation: 0,
            content: name,
            timestamp: index,
          },
        },
      }));
    const events: string[] = [];
    let rebuilt = 0;
    const followed = new FollowedTeam({
      clock: { now: () => 0, uuid: () => '' },
      settings: () => assert.fail('nothing is decided here'),
      refusal: () => new ReadOnlyError({ kind: 'free' }),
      onRebuilt: () => {
        rebuilt += 1;
      },
      report: (error) => assert.fail(String(error)),
    });
    followed.events.on((event) => void events.push(event.type === 'message' ? event.message.id : event.type));
    const unread = () => followed.team.unread('lead').map(({ id }) => id);
    followed.take(lines('a', 'b'));
    followed.take(lines('a', 'b'));
    followed.take(lines('a', 'b', 'c'));
    assert.deepEqual([events, rebuilt, unread()], [['a', 'b', 'c'], 0, ['a', 'b', 'c']]);
    followed.take(lines('b', 'c', 'd'));
    assert.deepEqual([events, rebuilt, unread()], [['a', 'b', 'c'], 1, ['b', 'c', 'd']]);
    followed.begin(lines('b', 'x', 'd'));
    assert.deepEqual([events, rebuilt, unread()], [['a', 'b', 'c'], 2, ['b', 'x', 'd']]);
    await assert.rejects(followed.team.send(HUMAN, 'lead', 'x'), ReadOnlyError);
  });

  it('shows the board that another window runs, as it changes, and cannot touch it', async () => {
    const owner = await openWindow();
    const { core } = await openWindow();
    const seen = new Promise<void>((resolve) => {
      core.on((event) => event.type === 'task' && event.change === 'claimed' && resolve());
    });
    await owner.core.createTask({ subject: 'First', description: '' });
    await owner.core.assignTask('t1', 'lead');
    await seen;
    assert.deepEqual(
      core.tasks().map(({ id, status, owner: who }) => [id, status, who]),
      [['t1', 'in_progress', 'lead']],
    );
    await assert.rejects(core.releaseTask('t1'), ReadOnlyError);
    assert.match(core.describeTasks(), /t1 \[in_progress, lead\] First/);
    assert.equal(owner.core.task('t1')?.owner, 'lead');
    await owner.core.whenIdle();
  });

  it('changes nothing by any of its methods', async () => {
    await openWindow();
    const { core } = await openWindow();
    const calls: (() => unknown)[] = [
      () => core.decide({ requestId: 'd08982e3', approve: true, by: HUMAN, via: 'ui' }),
      () => core.sendToLead('x'),
      () => spawn(core),
      () => core.sendMessage('lead', 'x'),
      () => core.broadcast('x'),
      () => core.requestShutdown('alice'),
      () => core.requestPlan('alice'),
      () => core.interrupt('lead'),
      () => core.forceStop('alice'),
      () => core.retry('lead'),
      () => core.stopAll(),
      () => core.newConversation(),
      () => core.cleanUpTeam(),
      () => core.createTask({ subject: 'x', description: '' }),
      () => core.updateTask('t1', { priority: 1 }),
      () => core.assignTask('t1', 'alice'),
      () => core.releaseTask('t1'),
      () => core.completeTask('t1', 'x'),
      () => core.resume(),
    ];
    for (const change of calls) await assert.rejects(async () => change(), ReadOnlyError, String(change));
  });

  it('a window that reloads runs the team again when its old self has ended', async () => {
    const old = await openWindow();
    const reloaded = await openWindow({ graceMs: 60_000 });
    assert.equal(state(reloaded).readOnly, 'held');
    const swapped = changed(reloaded, 'core');
    await old.dispose();
    await swapped;
    assert.equal(state(reloaded).readOnly, '');
  });

  it('frees the team when the window closes', async () => {
    const first = await openWindow();
    await first.dispose();
    assert.equal(state(await openWindow()).readOnly, '');
  });

  describe('a team whose journal is elsewhere', () => {
    const elsewhere = async () => {
      const first = await openWindow({ storage: 'elsewhere' });
      await spawn(first.core);
      await first.core.whenIdle();
      await first.dispose();
      await fs.appendFile(
        file('inbox', 'alice.jsonl'),
        '{"type":"message","from":"ci","content":"It broke."}\n',
      );
      await fs.appendFile(
        file('inbox', 'lead.jsonl'),
        `${JSON.stringify({ id: '5a0d8a0e-0000-4000-8000-000000000000', type: 'message', from: 'bob', content: 'Look.', timestamp: 1 })}\n` +
          '{"type":"plan_approval_response","from":"lead","request_id":"d08982e3","approve":true}\n',
      );
      return JSON.parse(await fs.readFile(file('config.json'), 'utf8'));
    };

    it('is shown as it is listed, and nothing of it is touched', async () => {
      await elsewhere();
      const before = await snapshot(path.join(home, 'workspace'));
      const here = await openWindow();
      assert.deepEqual(state(here), { readOnly: 'foreign', members: ['alice:idle'] });
      await assert.rejects(here.takeOver(), /Adopt Team/);
      assert.deepEqual(await snapshot(path.join(home, 'workspace')), before);
    });

    it("is this window's after Adopt Team, with its mail for the lead, and nothing lost", async () => {
      const { team_id } = await elsewhere();
      const leadInbox = await fs.readFile(file('inbox', 'lead.jsonl'), 'utf8');
      const here = await openWindow();
      await here.adopt();
      assert.deepEqual(state(here), { readOnly: '', members: ['alice:shutdown'] });
      const contents = here.core
        .unread('lead')
        .map((message) => [message.from, message.content, message.external]);
      assert.deepEqual(contents, [
        ['ci', 'For alice, who was not shown it: It broke.', true],
        ['bob', 'Look.', true],
      ]);
      await here.core.whenIdle();
      const config = JSON.parse(await fs.readFile(file('config.json'), 'utf8'));
      assert.equal(config.team_id, team_id);
      const kept = (await fs.readdir(file('inbox'))).find((name) => name.startsWith('lead.jsonl.adopted-'));
      assert.equal(await fs.readFile(file('inbox', kept ?? ''), 'utf8'), leadInbox);
      assert.deepEqual(
        logged.filter((line) => /posed as|damaged/.test(line)),
        [],
      );
      const again = await spawn(here.core);
      assert.equal(again.incarnation, 2);
      await here.core.whenIdle();
      await here.dispose();
      assert.equal(state(await openWindow()).readOnly, '', 'from now on it is at home here');
    });

    it('may be damaged: then it is set aside, as ever', async () => {
      await fs.mkdir(file(), { recursive: true });
      await fs.writeFile(file('config.json'), '{"team_name":');
      const here = await openWindow();
      assert.equal(state(here).readOnly, '');
      assert.ok((await fs.readdir(file())).some((name) => name.startsWith('config.json.damaged-')));
    });
  });
}

/** Every file with its content, and when it was last written. */
async function snapshot(dir: string): Promise<Record<string, string>> {
  const files = await fs.readdir(dir, { recursive: true, withFileTypes: true });
  const entries = files
    .filter((entry) => entry.isFile())
    .map(async (entry) => {
      const name = path.join(entry.parentPath, entry.name);
      const { mtimeMs } = await fs.stat(name);
      return [path.relative(dir, name), `${mtimeMs} ${await fs.readFile(name, 'utf8')}`] as const;
    });
  return Object.fromEntries((await Promise.all(entries)).sort(([a], [b]) => a.localeCompare(b)));
}
