import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { eventually } from '../driver-wait';
import { held } from '../support/lines';
import type { Scene } from '../support/scene';
import { PROJECT_TASKS, PROJECT_TEST } from '../support/tagsProject';
import { MEMBERS, tagsTeam } from '../support/tagsTeam';

/** The whole of it: a lead, five teammates and twelve tasks that build on each other. */
export function teamwork(scene: Scene): void {
  describe('a team that divides the work', () => {
    before(() => scene.fresh());

    it('does twelve tasks with five teammates, each after those it builds on, until the tests pass', async () => {
      const { window } = scene;
      await mkdir(dirname(scene.file(PROJECT_TEST.path)), { recursive: true });
      await writeFile(scene.file(PROJECT_TEST.path), PROJECT_TEST.content);
      assert.notEqual(await runTests(scene), 0, 'the tests fail at first');
      const goOn = held();
      const team = tagsTeam(goOn.until);
      scene.model.setBrain(team.brain);
      await scene.tell('Build the tags.');
      // Each of those who have something to do is seen at it, in both trees, with all that comes after.
      const underWay = PROJECT_TASKS.filter(({ after }) => after.length === 0).map(({ subject }) => subject);
      for (const view of ['Board', 'Team']) {
        await eventually(
          () => window.treeRows(view),
          (rows) => underWay.every((subject) => rows.some((row) => row.level === 2 && row.label === subject)),
          `the tasks under way in ${view}`,
        );
      }
      for (const theme of ['Dark Modern', 'Light Modern']) {
        await window.setTheme(theme);
        await window.screenshot(`picture busy team ${theme.split(' ')[0]?.toLowerCase()}`);
      }
      goOn.release();

      // Files change unasked here; the one command waits for a person.
      const { id } = await scene.pending('npm test');
      await window.screenshot('teamwork');
      await window.clickInlineAction('Requests', id, 'Approve');
      await eventually(
        () => window.treeRows('Board'),
        (rows) => rows.length === 1 && rows[0]?.label === 'Done',
        'all tasks to be done',
      );
      assert.deepEqual([...team.owners.keys()].sort(), PROJECT_TASKS.map(({ key }) => key).sort());
      assert.ok(new Set(team.owners.values()).size > 1, 'the work was divided');
      assert.equal(await runTests(scene), 0, 'the tests pass');
      for (const name of MEMBERS) await scene.becomes(name, 'idle');
    });
  });
}

/** The exit code of the sample project's own tests. */
function runTests(scene: Scene): Promise<number> {
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
  return new Promise((resolve) => {
    execFile('npm', ['test'], { cwd: scene.file(), env }, (error) => {
      resolve(error === null ? 0 : typeof error.code === 'number' ? error.code : 1);
    });
  });
}
