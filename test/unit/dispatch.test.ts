import * as assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { ToolUseBlock } from '../../src/model/port';
import type { ApprovalPolicy } from '../../src/protocol';
import { TOOLS, ToolTable } from '../../src/tools';
import { WorkspaceError } from '../../src/workspace/port';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam } from './support/team';
import { deferred, recording, results, resultTexts, withOperations } from './support/turns';

/** One turn of the lead with these calls; gives their results. */
async function leadTurn(calls: ToolUseBlock[], log: string[] = []) {
  const model = new ScriptedModel({ lead: [calls, [text('Done.')]] });
  const team = await openTeam(model, { permissionMode: 'allow' }, undefined, { workspace: recording(log) });
  await fs.writeFile(path.join(team.root, 'notes.txt'), 'one\n');
  await team.core.sendToLead('Go.');
  return results(model.of('lead')[1]);
}

/** The same for a teammate. */
async function teammateTurn(calls: ToolUseBlock[], log: string[] = []) {
  const model = new ScriptedModel({ alice: [calls, [text('Done.')]] }).always('lead', [text('Seen.')]);
  const team = await openTeam(model, { permissionMode: 'allow' }, undefined, { workspace: recording(log) });
  await fs.writeFile(path.join(team.root, 'notes.txt'), 'one\n');
  await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
  await team.core.whenIdle();
  return { team, results: results(model.of('alice')[1]) };
}

describe('dispatch', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it('answers an unknown tool with an error, whatever its name', async () => {
    const names = ['frobnicate', '', 'constructor', '__proto__', 'toString', 'BASH', 'bash '];
    const found = await leadTurn(names.map((name) => call(name, {})));
    assert.deepEqual(
      found.map(({ content, is_error }) => [content, is_error]),
      names.map((name) => [`Error: There is no tool '${name}'.`, true]),
    );
  });

  it('knows no tool that the role does not have', async () => {
    const leadOnly = TOOLS.filter((tool) => tool.teammate === undefined).map((tool) => tool.name);
    assert.deepEqual(leadOnly, [
      'spawn_teammate',
      'propose_team',
      'list_teammates',
      'broadcast',
      'shutdown_request',
      'permission_decision',
      'create_task',
      'create_worktree',
      'update_task',
    ]);
    const inputs: Record<string, unknown> = {
      spawn_teammate: { name: 'eve', role: 'coder', prompt: 'Work.' },
      propose_team: { members: [{ name: 'eve', role: 'coder', prompt: 'Work.' }] },
      permission_decision: { request_id: 'ffffffff', approve: true },
      broadcast: { content: 'x' },
      shutdown_request: { teammate: 'alice' },
      create_task: { subject: 'x' },
      create_worktree: { task_id: 't1' },
      update_task: { task_id: 't1', priority: 1 },
    };
    const { team, results: found } = await teammateTurn(
      leadOnly.map((name) => call(name, inputs[name] ?? {})),
    );
    assert.deepEqual(
      found.map(({ content, is_error }) => [content, is_error]),
      leadOnly.map((name) => [`Error: There is no tool '${name}'.`, true]),
    );
    assert.deepEqual(
      team.core.members().map((member) => member.name),
      ['alice'],
    );
    assert.deepEqual(team.core.requests(), []);
  });

  it('offers each role its own set, always the same array', () => {
    const teammate = [
      'bash',
      'read_file',
      'write_file',
      'edit_file',
      'send_message',
      'read_inbox',
      'shutdown_response',
      'plan_approval',
      'list_tasks',
      'get_task',
      'claim_task',
      'complete_task',
    ];
    const table = new ToolTable(TOOLS);
    const human = { plan: 'either', permission: 'human' } as const;
    const either = { plan: 'either', permission: 'either' } as const;
    const offered = (member: string, policy: ApprovalPolicy = human) => table.offeredTo(member, policy).specs;
    assert.deepEqual(
      offered('alice').map((spec) => spec.name),
      teammate,
    );
    const all = TOOLS.map((tool) => tool.name);
    assert.deepEqual(
      offered('lead', either).map((spec) => spec.name),
      all,
    );
    assert.deepEqual(
      offered('lead').map((spec) => spec.name),
      all.filter((name) => name !== 'permission_decision'),
    );
    assert.equal(offered('alice'), offered('bob', either));
    assert.equal(offered('lead'), offered('lead', { ...human, plan: 'human' }));
    const plan = (member: string) =>
      offered(member).find((spec) => spec.name === 'plan_approval')?.inputSchema;
    assert.deepEqual(plan('lead')?.required, ['request_id', 'approve']);
    assert.deepEqual(plan('alice')?.required, ['plan']);
    for (const spec of offered('lead')) assert.equal(spec.inputSchema.type, 'object');
  });

  it('names what is wrong with arguments, and runs nothing', async () => {
    const log: string[] = [];
    const found = await leadTurn(
      [
        call('bash', {}),
        call('bash', { command: '' }),
        call('bash', { command: 'ls', timeout: -1 }),
        call('read_file', { path: 7 }),
        call('write_file', { path: 'a' }),
        call('edit_file', null),
        call('edit_file', 'path'),
        call('bash', []),
        call('plan_approval', { request_id: 'x', approve: 'yes' }),
      ],
      log,
    );
    const starts = ['command', 'command', 'timeout', 'path', 'content', 'input', 'input', 'input', 'approve'];
    found.forEach((result, index) => {
      assert.equal(result.is_error, true);
      assert.ok(result.content.startsWith(`Error: ${starts[index]}: `), result.content);
    });
    assert.deepEqual(log, []);
  });

  it('never runs a call whose input was cut off', async () => {
    const log: string[] = [];
    const cut = {
      ...call('bash', { command: 'touch made' }),
      inputError: 'the reply ended at its token limit',
    };
    const [found] = await leadTurn([cut], log);
    assert.equal(
      found?.content,
      'Error: The input of bash did not arrive whole: the reply ended at its token limit',
    );
    assert.equal(found?.is_error, true);
    assert.deepEqual(log, []);
  });

  it('turns what a handler throws into a result', async () => {
    const found = await leadTurn([
      call('read_file', { path: 'missing.txt' }),
      call('send_message', { to: 'nobody', content: 'x' }),
      call('spawn_teammate', { name: 'lead', role: 'coder', prompt: 'x' }),
      call('spawn_teammate', { name: 'zed', role: ' ', prompt: 'x' }),
      call('shutdown_request', { teammate: 'nobody' }),
      call('plan_approval', { request_id: 'ffffffff', approve: true }),
      call('shutdown_response', { request_id: 'ffffffff' }),
    ]);
    assert.match(found[0]?.content ?? '', /^Error: .*missing\.txt/);
    assert.deepEqual(
      found.slice(1).map((result) => result.content),
      [
        "Error: There is no member 'nobody'. Members: lead.",
        "Error: 'lead' is reserved (lead, human, runtime, agent, system, team, all). Choose another name.",
        "Error: 'zed' needs a role, such as coder.",
        "Error: There is no member 'nobody'. Members: lead.",
        "Error: Unknown plan request_id 'ffffffff'",
        "Error: Unknown request_id 'ffffffff'.",
      ],
    );
    assert.ok(found.every((result) => result.is_error));
  });

  it('survives a handler that throws no Error', async () => {
    const model = new ScriptedModel({ lead: [[call('read_file', { path: 'a' })], [text('Done.')]] });
    const workspace = withOperations(() => ({ readFile: () => Promise.reject('a bare string') }));
    const team = await openTeam(model, {}, undefined, { workspace });
    await team.core.sendToLead('Go.');
    assert.deepEqual(resultTexts(model.of('lead')[1]), ['Error: a bare string']);
  });

  it('runs neighbouring reads together, and gives their results in the order of the calls', async () => {
    const both = deferred();
    const order: string[] = [];
    let inside = 0;
    const workspace = withOperations(() => ({
      // Neither read can end before the other has begun; the second ends first.
      readFile: async (file) => {
        inside++;
        if (inside === 2) both.resolve();
        await both.promise;
        if (file === 'a') await new Promise((resolve) => setImmediate(resolve));
        order.push(file);
        return `content of ${file}`;
      },
    }));
    const model = new ScriptedModel({
      lead: [[call('read_file', { path: 'a' }), call('read_file', { path: 'b' })], [text('Done.')]],
    });
    const team = await openTeam(model, {}, undefined, { workspace });
    await team.core.sendToLead('Go.');
    assert.deepEqual(order, ['b', 'a']);
    assert.deepEqual(resultTexts(model.of('lead')[1]), ['content of a', 'content of b']);
  });

  it('runs mutating calls one after another, in order, and not beside reads', async () => {
    const trace: string[] = [];
    const slow = async (what: string): Promise<void> => {
      trace.push(`${what} begins`);
      // Gives anything that runs beside it many chances to show.
      for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
      trace.push(`${what} ends`);
    };
    const workspace = withOperations(() => ({
      readFile: async (file) => {
        await slow(`read ${file}`);
        return file;
      },
      previewWrite: async () => '',
      writeFile: async (file) => {
        await slow(`write ${file}`);
        return 'written';
      },
      runCommand: async (command) => {
        await slow(command);
        return { output: command, exitCode: 0, signal: null, timedOut: false, aborted: false };
      },
    }));
    const calls = [
      call('write_file', { path: '1', content: '' }),
      call('read_file', { path: '2' }),
      call('bash', { command: '3' }),
      call('write_file', { path: '4', content: '' }),
      call('bash', { command: '5' }),
    ];
    const model = new ScriptedModel({ lead: [calls, [text('Done.')]] });
    const team = await openTeam(model, { permissionMode: 'allow' }, undefined, { workspace });
    await team.core.sendToLead('Go.');
    const names = ['write 1', 'read 2', '3', 'write 4', '5'];
    assert.deepEqual(
      trace,
      names.flatMap((name) => [`${name} begins`, `${name} ends`]),
    );
    assert.deepEqual(
      results(model.of('lead')[1]).map((result) => result.tool_use_id),
      calls.map((block) => block.id),
    );
  });

  it('goes on after a call that failed', async () => {
    const found = await leadTurn([
      call('bash', { command: 'exit 3' }),
      call('frobnicate'),
      call('bash', { command: 'echo still here' }),
    ]);
    assert.deepEqual(
      found.map((result) => result.content),
      ['[exit code 3]', "Error: There is no tool 'frobnicate'.", 'still here'],
    );
  });

  it('tells of every call as it starts and ends', async () => {
    const model = new ScriptedModel({ lead: [[call('list_teammates'), call('nope')], [text('Done.')]] });
    const team = await openTeam(model);
    await team.core.sendToLead('Go.');
    const seen = team.events.flatMap((event) =>
      event.type === 'tool_started' || event.type === 'tool_ended' ? [[event.type, event.name]] : [],
    );
    assert.deepEqual(seen, [
      ['tool_started', 'list_teammates'],
      ['tool_ended', 'list_teammates'],
      ['tool_started', 'nope'],
      ['tool_ended', 'nope'],
    ]);
  });

  it('keeps a refusal of the workspace in its own words, before anybody is asked', async () => {
    const model = new ScriptedModel({
      lead: [[call('write_file', { path: 'a', content: '' })], [text('Done.')]],
    });
    const workspace = withOperations(() => ({
      previewWrite: () => Promise.reject(new WorkspaceError("'a' leads out of the workspace.")),
    }));
    const team = await openTeam(model, { permissionMode: 'ask' }, undefined, { workspace });
    await team.core.sendToLead('Go.');
    assert.deepEqual(resultTexts(model.of('lead')[1]), ["Error: 'a' leads out of the workspace."]);
    assert.deepEqual(team.core.requests(), []);
  });
});
