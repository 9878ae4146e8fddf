import * as assert from 'node:assert/strict';
import { LEAD } from '../../../src/protocol';
import type { Team } from '../../../src/team/team';

/** What a call that changes a file does, from its checks to the mark that it has begun. */
export async function changeFile(team: Team, name: string, path: string, id: string): Promise<void> {
  const incarnation = name === LEAD ? 0 : team.state.lastIncarnation(name);
  const changer = team.leases.changer(name, incarnation);
  if (changer === undefined) return;
  const file = { key: `/w/${path}`, path, isKnown: true };
  if ((await team.leases.refusal(file, changer, () => undefined)) !== undefined) return;
  if (team.leases.hasNews(file, changer)) return;
  const call = { member: name, incarnation, id };
  await team.leases.take(file, changer, (records) => team.marks.begun(call, 'write_file', 1, records));
}

/** Nobody holds a file that is not at work, and nobody changes one that another holds without knowing of it. */
export function checkLeases({ state }: Team): void {
  const all = state.leases.all();
  for (const [index, lease] of all.entries()) {
    const { key, member: name, incarnation, task } = lease;
    if (name !== LEAD) {
      const member = state.member(name);
      assert.ok(member && member.incarnation === incarnation, `${name} holds ${key} and is not there`);
      assert.ok(
        member.status !== 'shutdown' && member.status !== 'failed',
        `${name} holds ${key}, ${member.status}`,
      );
      assert.equal(member.taskId, task, `${name} holds ${key} for other work`);
    }
    for (const later of all.slice(index + 1)) {
      if (later.key !== key) continue;
      assert.notEqual(later.member, name, `${name} holds ${key} twice`);
      assert.ok(
        state.leases.isTold(lease, later),
        `${later.member} changes ${key} and knows nothing of ${name}`,
      );
    }
  }
}
