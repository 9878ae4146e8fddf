import * as assert from 'node:assert/strict';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam } from './support/team';
import { resultTexts } from './support/turns';

describe('the board: tools', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it('create_task, list_tasks, get_task, claim_task, complete_task, as the lead uses them', async () => {
    const model = new ScriptedModel({
      lead: [
        [call('list_tasks')],
        [
          call('create_task', { subject: 'Parse', description: 'Write the parser.' }),
          call('create_task', { subject: 'Print', priority: 5, blocked_by: ['t1'] }),
        ],
        [call('list_tasks'), call('claim_task', { task_id: 't2' }), call('claim_task', { task_id: 't1' })],
        [call('claim_task', { task_id: 't1' }), call('get_task', { task_id: '#1' })],
        [call('complete_task', { task_id: 't1', result: 'Parses.' }), call('list_tasks', { status: 'all' })],
        [call('complete_task', { task_id: 't1', result: 'Again.' }), call('get_task', { task_id: 't9' })],
        [text('Done.')],
      ],
    });
    const team = await openTeam(model);
    await team.core.sendToLead('Go.');
    const seen = model.of('lead').map(resultTexts);
    assert.deepEqual(seen.slice(1), [
      ['The board is empty.'],
      ['Created t1: Parse', 'Created t2: Print'],
      [
        'Board: 2 tasks (1 ready, 1 pending).\nt1 [ready] Parse\nt2 [pending, priority 5, waits for t1] Print',
        'Error: t2 cannot begin yet: it waits for t1.',
        'Claimed t1: Parse\n\nWrite the parser.\n\nWhen it is done, call complete_task with task_id t1 and the result.',
      ],
      [
        'Claimed t1: Parse\n\nWrite the parser.\n\nWhen it is done, call complete_task with task_id t1 and the result.',
        't1 [in_progress, lead] Parse\n\nWrite the parser.',
      ],
      [
        'Completed t1. Ready now: t2.',
        'Board: 2 tasks (1 ready, 1 completed).\nt2 [ready, priority 5] Print\nt1 [completed, lead] Parse',
      ],
      ['Error: t1 is already completed by lead.', "Error: There is no task 't9'. Tasks: t1, t2."],
    ]);
    assert.deepEqual(
      team.events.flatMap((event) => (event.type === 'task' ? [`${event.id} ${event.change}`] : [])),
      ['t1 created', 't2 created', 't1 claimed', 't1 completed'],
    );
    const again = await team.reopen();
    assert.deepEqual(
      again.core.tasks().map(({ id, status, result, owner }) => ({ id, status, result, owner })),
      [
        { id: 't1', status: 'completed', result: 'Parses.', owner: 'lead' },
        { id: 't2', status: 'pending', result: undefined, owner: undefined },
      ],
    );
    assert.equal((await again.core.createTask({ subject: 'Next', description: '' })).id, 't3');
  });

  it('update_task: dependencies that do not exist, of a task on itself and in a circle are refused', async () => {
    const team = await openTeam(new ScriptedModel({}));
    const { core } = team;
    for (const subject of ['A', 'B', 'C']) await core.createTask({ subject, description: '' });
    await core.updateTask('t2', { blockedBy: ['t1'] });
    await core.updateTask('t3', { blockedBy: ['t2'] });
    await assert.rejects(core.updateTask('t1', { blockedBy: ['t7'] }), /no task 't7'/);
    await assert.rejects(core.updateTask('t1', { blockedBy: ['t1'] }), /cannot wait for itself/);
    await assert.rejects(
      core.updateTask('t1', { blockedBy: ['t3'] }),
      /circle: t1 waits for t3 waits for t2 waits for t1/,
    );
    await assert.rejects(
      core.createTask({ subject: 'D', description: '', blockedBy: ['t4'] }),
      /no task 't4'/,
    );
    await assert.rejects(core.createTask({ subject: '  ', description: '' }), /needs a subject/);
    assert.deepEqual(
      core.tasks().map(({ blockedBy }) => blockedBy),
      [[], ['t1'], ['t2']],
    );
  });
});
