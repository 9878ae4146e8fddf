import * as assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { type DispatchContext, dispatch } from '../../src/agent/dispatch';
import { type AskedAccess, needsPermission } from '../../src/agent/permission';
import type { ToolResultBlock, ToolUseBlock } from '../../src/model/port';
import { permissionPayload } from '../../src/protocol';
import type { PermissionMode } from '../../src/team/settings';
import { TOOLS, ToolTable } from '../../src/tools';
import type { MemberWorkspace } from '../../src/workspace/port';
import { isSteering } from '../../src/workspace/steering';
import { heldTeam } from './support/heldJournal';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam } from './support/team';
import { deferred, recording, resultTexts, shown } from './support/turns';

const GATES = ['not_required', 'approved'] as const;

describe('permission: what has to be asked', () => {
  const table: [PermissionMode, AskedAccess, boolean, boolean][] = [
    // mode, access, asked with no plan, asked with an approved plan
    ['ask', 'command', true, true],
    ['ask', 'edit', true, false],
    ['acceptEdits', 'command', true, true],
    ['acceptEdits', 'edit', false, false],
    ['plan', 'command', true, true],
    ['plan', 'edit', true, false],
    ['allow', 'command', false, false],
    ['allow', 'edit', false, false],
    ['ask', 'steering', true, true],
    ['acceptEdits', 'steering', true, true],
    ['plan', 'steering', true, true],
    ['allow', 'steering', false, false],
  ];
  for (const [mode, access, ...expected] of table) {
    it(`${mode}: ${access}`, () => {
      assert.deepEqual(
        GATES.map((gate) => needsPermission(mode, access, gate)),
        expected,
      );
    });
  }
});

describe('permission: asked of the human', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  async function alice(mode: PermissionMode, ...calls: ToolUseBlock[]) {
    const log: string[] = [];
    const model = new ScriptedModel({ alice: [calls, [text('Done.')]] }).always('lead', [text('Seen.')]);
    const team = await openTeam(model, { permissionMode: mode }, undefined, { workspace: recording(log) });
    await fs.writeFile(path.join(team.root, 'notes.txt'), 'one\n');
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await team.core.whenIdle();
    return { team, model, log };
  }

  it('a change of what says what VS Code runs, by whatever name, though edits are accepted', async () => {
    const write = (file: string) => call('write_file', { path: file, content: '{}\n' });
    const { team } = await alice('acceptEdits', write('free.txt'), write('docs/../.VSCode/settings.json'));
    const [request] = team.core.requests();
    assert.equal(request?.status, 'pending');
    const asked = permissionPayload.parse(request?.payload);
    assert.equal(asked.subject, 'docs/../.VSCode/settings.json');
    assert.match(asked.description ?? '', /what VS Code and its tools run/);
    assert.deepEqual((await fs.readdir(team.root)).sort(), ['.team', 'free.txt', 'notes.txt']);
  });

  it('a change of such a file behind a link, by either name, though edits are accepted', async () => {
    const write = (file: string) => call('write_file', { path: file, content: '{}\n' });
    for (const named of ['.vscode/settings.json', 'config/settings.json', 'AGENTS.md', 'guide.md']) {
      const model = new ScriptedModel({ alice: [[write(named)], [text('Done.')]] }).always('lead', [
        text('Seen.'),
      ]);
      const team = await openTeam(model, { permissionMode: 'acceptEdits' });
      await fs.mkdir(path.join(team.root, 'config'));
      await fs.symlink('config', path.join(team.root, '.vscode'));
      await fs.writeFile(path.join(team.root, 'guide.md'), 'Be kind.\n');
      await fs.symlink('guide.md', path.join(team.root, 'AGENTS.md'));
      await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
      await team.core.whenIdle();
      // A file that was not read is refused before anybody is asked; nothing was changed in either case.
      const [request] = team.core.requests();
      if (named.endsWith('.json')) assert.equal(request?.status, 'pending', named);
      assert.equal(await fs.readFile(path.join(team.root, 'guide.md'), 'utf8'), 'Be kind.\n');
      assert.deepEqual(await fs.readdir(path.join(team.root, 'config')), []);
    }
  });

  it('knows the files that steer tools and agents, and no others', () => {
    const steering = [
      '.vscode/settings.json',
      'packages/a/.vscode/tasks.json',
      '.VSCODE/launch.json',
      '.vscode./settings.json',
      '.devcontainer/devcontainer.json',
      '.devcontainer.json',
      '.claude/settings.json',
      '.handshake/agents/a.md',
      'AGENTS.md',
      'docs/CLAUDE.md',
      'team.code-workspace',
      '.mcp.json',
      '.envrc',
      '.husky/pre-commit',
      '.github/copilot-instructions.md',
      '.github/workflows/ci.yml',
      '.cursor/rules/a.mdc',
      '.v\u017fcode/tasks.json',
    ];
    const free = [
      'src/vscode/a.ts',
      'vscode/x',
      'docs/agents.txt',
      'README.md',
      '.env',
      '.vscodeignore',
      '',
      '.github/README.md',
      'workflows/a.yml',
    ];
    assert.deepEqual(
      steering.filter((file) => !isSteering(file)),
      [],
    );
    assert.deepEqual(free.filter(isSteering), []);
  });

  it('a command: the request holds all of it, and nothing ran yet', async () => {
    const command = `echo ${'x'.repeat(5000)} && rm -rf b`;
    const bash = call('bash', { command, description: '[details](command:handshake.approve)' });
    const { team, log, model } = await alice('ask', bash);
    const [request] = team.core.requests();
    assert.deepEqual([request?.kind, request?.from, request?.to], ['tool_permission', 'alice', 'human']);
    assert.deepEqual(request?.payload, {
      tool: 'bash',
      toolUseId: bash.id,
      subject: command,
      access: 'command',
      description: '[details](command:handshake.approve)',
    });
    assert.deepEqual(log, []);
    await team.core.decide({
      requestId: request?.requestId ?? '',
      approve: false,
      feedback: 'Not b.',
      by: 'human',
      via: 'ui',
    });
    await team.core.whenIdle();
    assert.deepEqual(resultTexts(model.of('alice')[1]), [
      'Refused: human did not permit this call. Feedback: Not b.',
    ]);
    assert.deepEqual(log, []);
  });

  it('an edit: the request shows the difference, and approval makes it', async () => {
    const { team, log } = await alice(
      'ask',
      call('read_file', { path: 'notes.txt' }),
      call('edit_file', { path: 'notes.txt', old_text: 'one', new_text: 'two' }),
    );
    const [request] = team.core.requests();
    const payload = permissionPayload.parse(request?.payload);
    assert.deepEqual([payload.tool, payload.subject, payload.access], ['edit_file', 'notes.txt', 'edit']);
    assert.match(payload.preview ?? '', /-one\n\+two/);
    assert.equal(log.includes('alice editFile'), false);
    await team.core.decide({ requestId: request?.requestId ?? '', approve: true, by: 'human', via: 'ui' });
    await team.core.whenIdle();
    assert.equal(await fs.readFile(path.join(team.root, 'notes.txt'), 'utf8'), 'two\n');
  });

  it('calls in order: the second is asked for after the first was answered', async () => {
    const { team } = await alice(
      'ask',
      call('bash', { command: 'touch a' }),
      call('bash', { command: 'touch b' }),
    );
    const first = await team.pending('tool_permission');
    assert.equal(team.core.requests().length, 1);
    const opened = team.next((event) => event.type === 'request' && event.change === 'opened');
    await team.core.decide({ requestId: first.requestId, approve: false, by: 'human', via: 'ui' });
    await opened;
    const second = await team.pending('tool_permission');
    await team.core.decide({ requestId: second.requestId, approve: true, by: 'human', via: 'ui' });
    await team.core.whenIdle();
    assert.deepEqual((await fs.readdir(team.root)).sort(), ['.team', 'b', 'notes.txt']);
  });

  it('acceptEdits lets edits pass and asks for commands', async () => {
    const { team } = await alice(
      'acceptEdits',
      call('write_file', { path: 'made', content: 'x' }),
      call('bash', { command: 'true' }),
    );
    assert.equal(await fs.readFile(path.join(team.root, 'made'), 'utf8'), 'x');
    assert.deepEqual(
      team.core.requests().map((request) => permissionPayload.parse(request.payload).tool),
      ['bash'],
    );
  });

  it('the lead is asked for as well, and cannot answer for itself', async () => {
    const model = new ScriptedModel({ lead: [[call('bash', { command: 'touch a' })], [text('Done.')]] });
    const team = await openTeam(model, {
      approvals: { plan: 'either', permission: 'either', team: 'human' },
    });
    const turn = team.core.sendToLead('Go.');
    const asked = await team.pending('tool_permission');
    await team.core.whenIdle();
    assert.equal(team.core.leadStatus().status, 'waiting');
    await assert.rejects(
      team.core.decide({ requestId: asked.requestId, approve: true, by: 'lead', via: 'tool' }),
      /is for human to answer, not for lead/,
    );
    await team.core.decide({ requestId: asked.requestId, approve: true, by: 'human', via: 'command' });
    await turn;
    assert.deepEqual((await fs.readdir(team.root)).sort(), ['.team', 'a']);
  });

  it('a plan that the human asks for during the wait ends it, and the gate is shut for what follows', async () => {
    const { team, model, log } = await alice('ask', call('write_file', { path: 'made', content: 'x' }));
    const asked = await team.pending('tool_permission');
    model.add('alice', [text('My plan, in prose.')]);
    await team.core.requestPlan('alice');
    await team.core.whenIdle();
    assert.equal(team.core.request(asked.requestId)?.cancelReason, 'call_ended');
    assert.match(shown(model.of('alice')[1]), /type="plan_request"/);
    assert.equal(log.includes('alice writeFile'), false);
    assert.equal(team.core.gateOf('alice'), 'required');
  });

  it('a force stop during the wait ends the call', async () => {
    const { team, log } = await alice('ask', call('bash', { command: 'touch a' }));
    const asked = await team.pending('tool_permission');
    await team.core.forceStop('alice');
    await team.core.whenIdle();
    assert.equal(team.core.request(asked.requestId)?.status, 'cancelled');
    assert.deepEqual(log, []);
    assert.equal(team.core.member('alice')?.status, 'shutdown');
    assert.match(team.core.member('alice')?.statusReason ?? '', /force stopped by the human/);
    await assert.rejects(
      team.core.decide({ requestId: asked.requestId, approve: true, by: 'human', via: 'ui' }),
      /was withdrawn/,
    );
  });
});

describe('permission: looked at again after the wait', function () {
  this.timeout(30_000);

  /** A call of alice that waits for its permission, with what the test does meanwhile. */
  async function during(
    meanwhile: (
      made: ReturnType<typeof heldTeam>,
      stop: (why: string) => void,
      end: () => Promise<void>,
    ) => Promise<void>,
  ) {
    const made = heldTeam();
    const { team, ledger } = made;
    await team.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'lead');
    let ran = false;
    let stopped: string | undefined;
    const over = deferred<void>();
    const workspace: MemberWorkspace = {
      readFile: async () => '',
      readImage: async () => undefined,
      previewWrite: async () => '',
      previewEdit: async () => '',
      writeFile: async () => {
        ran = true;
        return 'written';
      },
      editFile: async () => '',
      identify: async (path) => ({ key: path, path, isKnown: true, steers: false }),
      forget: () => undefined,
      runCommand: async () => ({ output: '', exitCode: 0, signal: null, timedOut: false, aborted: false }),
    };
    const signal = new AbortController().signal;
    const opened = new Promise<string>((resolve) =>
      ledger.events.on((event) => {
        if (event.type === 'request' && event.change === 'opened') resolve(event.request.requestId);
      }),
    );
    const results: ToolResultBlock[] = [];
    const context: DispatchContext = {
      member: 'alice',
      incarnation: 1,
      team,
      mode: () => 'ask',
      offered: new ToolTable(TOOLS).offeredTo('alice', { plan: 'either', permission: 'human' }),
      toolContext: { member: 'alice', incarnation: 1, team, signal, takeMail: async () => '' },
      place: async () => ({ workspace, moved: () => false }),
      stopReason: () => stopped,
      whenStopped: over.promise,
      onWaiting: () => undefined,
      emit: () => undefined,
      turn: 1,
      isSuspended: () => false,
      hasUrgentMail: () => false,
    };
    const dispatched = dispatch([call('write_file', { path: 'a', content: 'x' })], context, async (some) => {
      results.push(...some);
    });
    const requestId = await opened;
    await meanwhile(
      made,
      (why) => {
        stopped = why;
      },
      async () => {
        over.resolve();
        await dispatched;
      },
    );
    await team.decisions
      .decide({ requestId, approve: true, by: 'human', via: 'ui' })
      .catch(() => team.decisions.cancel([requestId], 'call_ended'));
    await dispatched;
    const [result] = results;
    return { text: result?.content, ran };
  }

  it('nothing changed: it runs', async () => {
    assert.deepEqual(await during(async () => undefined), { text: 'written', ran: true });
  });

  it('the gate has shut: it is blocked although it was permitted', async () => {
    const outcome = await during(async ({ team }) => void (await team.requestPlan('lead', 'alice')));
    assert.equal(outcome.ran, false);
    assert.match(outcome.text ?? '', /^Blocked: plan status is required\./);
  });

  it('the member has to stop: it does not run', async () => {
    const outcome = await during(async (_, stop) => stop('the shutdown was approved.'));
    assert.deepEqual(outcome, { text: 'Not run: the shutdown was approved.', ran: false });
  });

  it('the member is stopped for good: the wait ends, whatever becomes of the request', async () => {
    const outcome = await during(async (_, __, end) => end());
    assert.deepEqual(outcome, { text: 'Not run: this member was stopped.', ran: false });
  });

  it('the incarnation was fenced: it does not run', async () => {
    const outcome = await during(async ({ team }) => team.fence('alice', 1));
    assert.equal(outcome.ran, false);
    assert.match(outcome.text ?? '', /^Not run: /);
  });
});
