import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { errors, type Locator } from 'playwright-core';
import { eventually, patience } from '../driver-wait';
import { clickViewAction, editorAction, hasTabs, newSide, setBox, tabs } from '../support/editors';
import { isolatedWork } from '../support/isolated';
import { newsOf } from '../support/lines';
import type { Scene } from '../support/scene';

const run = promisify(execFile);

/** The check that runs after a merge: it fails once this file is there. */
const UNFINISHED = 'unfinished.txt';
export const CHECK = `test ! -e ${UNFINISHED}`;

/** Work that was done in a worktree comes home. The window keeps `uncommitted`. */
export function reviews(scene: Scene): void {
  const git = async (...words: string[]): Promise<string> => {
    const { stdout } = await run('git', words, { cwd: scene.file() });
    return stdout.trimEnd();
  };
  /** Resolves when the Review view lists these files. */
  const lists = async (...files: string[]): Promise<void> => {
    await eventually(
      async () =>
        (await scene.window.treeRows('Review')).filter(({ level }) => level === 1).map(({ label }) => label),
      (found) => found.join() === files.join(),
      `the files ${files.join(', ')} in the Review view`,
    );
  };
  /** The row may be drawn anew just when it is clicked, as its task moves: a person clicks again. */
  const begins = async (subject: string): Promise<void> => {
    const { window } = scene;
    await window.view('Review').waitFor({ state: 'detached' });
    const clicked = async (): Promise<boolean> => {
      await window.clickInlineAction('Board', subject, 'Review Work');
      return appears(window.view('Review'));
    };
    await eventually(clicked, (open) => open, `the review of '${subject}'`);
  };
  const told = async (words: string): Promise<void> => {
    await eventually(
      () => scene.window.notifications(),
      (all) => all.some(({ message }) => message.includes(words)),
      `the notification '${words}'`,
    );
  };
  /** Pictures, to be looked at. */
  const inBothThemes = async (name: string): Promise<void> => {
    for (const theme of ['Dark Modern', 'Light Modern']) {
      await scene.window.setTheme(theme);
      await scene.window.page.mouse.move(700, 600);
      await scene.window.screenshot(`picture ${name} ${theme.split(' ')[0]?.toLowerCase()}`);
    }
  };
  const isHome = async (subject: string): Promise<void> => {
    await scene.window.view('Review').waitFor({ state: 'detached' });
    await hasTabs(scene.window);
    // It is among those that are done, which are folded.
    await scene.window.treeRow('Board', subject).waitFor({ state: 'detached' });
  };

  describe('finished work', () => {
    beforeEach(() => scene.fresh());

    it('is looked at file by file and accepted in parts; each is a commit, and the check runs after it', async () => {
      const { window } = scene;
      const { page } = window;
      const subject = 'Raise the limits';
      const id = await isolatedWork(scene, subject, [
        { path: 'src/validate.js', old: 'MAX_TITLE = 120', now: 'MAX_TITLE = 200' },
        { path: 'src/validate.js', old: "'body must be a string'", now: "'body is not a string'" },
        { path: 'src/validate.js', old: "'every tag must be a string'", now: "'a tag is not a string'" },
        { path: 'README.md', old: 'no health check yet.', now: 'no health check yet, and no login.' },
        { path: 'docs/limits.md', now: '# Limits\n\nA title has up to 200 characters.\n' },
        { path: UNFINISHED, now: 'The limit of all notes together.\n' },
      ]);
      const begun = await git('rev-parse', 'HEAD');
      await window.runCommand('Handshake: Review Work');
      await lists('README.md', 'limits.md', 'validate.js', UNFINISHED);
      const all = `Review of ${id}: ${subject} (4 files)`;
      await hasTabs(window, all);
      await page.locator('.multiDiffEditor').getByText('A title has up to 200 characters.').first().waitFor();

      await window.treeRow('Review', 'validate.js').click();
      const diff = `src/validate.js (work of ${id})`;
      await hasTabs(window, diff);
      await newSide(window).getByText("'body is not a string'").waitFor();
      await window.treeRow('Review', 'validate.js').locator('.monaco-tl-twistie').click();
      await window.treeRow('Review', 'Line 1').waitFor();
      await inBothThemes('review');
      await window.clickInlineAction('Review', 'Line 1', 'Accept');
      await told(
        `${id} is in main: 1 file, commit ${await commitsSince(begun, 1)}. The check passed: ${CHECK}.`,
      );
      assert.equal(await git('log', '-1', '--format=%s|%an'), `${subject}|Kim`);
      assert.equal(await git('diff', '--shortstat', begun), ' 1 file changed, 1 insertion(+), 1 deletion(-)');
      await window.treeRow('Review', 'Line 1').waitFor({ state: 'detached' });

      // The diff in sight goes on with what is left.
      await hasTabs(window, diff);
      await newSide(window).getByText("'body is not a string'").waitFor();
      await window.treeRow('Review', 'Line 46').click();
      await window.chooseFromMenuOf(
        newSide(window).getByText("'a tag is not a string'"),
        'Accept the Part at the Cursor',
      );
      await told(`commit ${await commitsSince(begun, 2)}.`);
      assert.match(
        await git('show', 'HEAD:src/validate.js'),
        /MAX_TITLE = 200[\s\S]*body must be[\s\S]*a tag is not/,
      );

      await window.treeRow('Review', 'README.md').click();
      await hasTabs(window, `README.md (work of ${id})`);
      await editorAction(window, 'Accept').click();
      await told(`commit ${await commitsSince(begun, 3)}.`);
      assert.equal(await git('log', '-1', '--format=', '--name-only'), 'README.md');
      await lists('limits.md', 'validate.js', UNFINISHED);
      await hasTabs(window);

      await setBox(window, 'Review', UNFINISHED, false);
      await clickViewAction(window, 'Review', 'Accept Work');
      await told('1 file left to review.');
      await lists(UNFINISHED);
      await setBox(window, 'Review', UNFINISHED, true);
      await clickViewAction(window, 'Review', 'Accept Work');
      await told(`The check failed: ${CHECK} (exit code 1).`);
      await isHome(subject);
      await commitsSince(begun, 5);
      for (const path of ['README.md', 'docs/limits.md', 'src/validate.js', UNFINISHED]) {
        const made = await readFile(scene.file('.team', 'worktrees', id, path), 'utf8');
        assert.equal(await git('show', `HEAD:${path}`), made.trimEnd(), path);
      }
      await git('rm', '-q', UNFINISHED);
      await git('commit', '-qm', 'Finish it');
    });

    it('opens the merge editor where both sides changed a line, and nothing of either is lost', async () => {
      const { window } = scene;
      const { page } = window;
      const subject = 'Allow longer bodies';
      const id = await isolatedWork(scene, subject, [
        { path: 'src/validate.js', old: 'MAX_BODY = 10_000', now: 'MAX_BODY = 50_000' },
        { path: 'docs/bodies.md', now: '# Bodies\n' },
      ]);
      const file = scene.file('src', 'validate.js');
      await writeFile(file, (await readFile(file, 'utf8')).replace('MAX_BODY = 10_000', 'MAX_BODY = 20_000'));
      await git('commit', '-qam', 'Twice as much');
      await begins(subject);
      await lists('bodies.md', 'validate.js');
      await clickViewAction(window, 'Review', 'Accept Work');
      const merge = page.locator('.merge-editor');
      await merge.waitFor();
      await told(`${id} is in main, except for a conflict in src/validate.js.`);
      // They lie over the button that completes the merge.
      await window.runCommand('Notifications: Clear All Notifications');
      await inBothThemes('merge editor');
      await merge.getByText('Accept Incoming').first().click();
      await merge.getByText('1 Conflict Remaining').waitFor({ state: 'detached' });
      await merge.getByText('Complete Merge').click();
      await merge.waitFor({ state: 'detached' });
      await eventually(
        () => git('status', '--porcelain', '--untracked-files=no'),
        (status) => status === 'A  docs/bodies.md\nM  src/validate.js',
        'the file to be resolved',
      );
      await git('commit', '--no-edit');
      assert.equal(await git('log', '-1', '--format=%s'), subject);
      assert.match(await readFile(file, 'utf8'), /MAX_BODY = 50_000/);
      await isHome(subject);
    });

    it('is sent back with comments, comes again, and is accepted uncommitted', async () => {
      const { window } = scene;
      const { page } = window;
      const subject = 'Say how to start';
      const change = { path: 'README.md', old: 'npm test', now: 'npm test      # runs the tests' };
      const id = await isolatedWork(
        scene,
        subject,
        [change],
        [{ path: 'README.md', old: '# runs the tests', now: '# must pass before a commit' }],
      );
      await begins(subject);
      await hasTabs(window, /^Review of /);
      await window.treeRow('Review', 'README.md').click();
      await newSide(window).getByText('# runs the tests').click();
      await window.runCommand('Add Comment on Current Selection');
      await page.locator('.review-widget .monaco-editor.focused').waitFor();
      await page.keyboard.type('Say when to run them.');
      await page.locator('.review-widget').getByRole('button', { name: 'Add Comment' }).click();
      await window.view('Review').getByText('1 comment goes with it when you send it back.').waitFor();

      await window.replaceUserSettings({
        'handshake.baseUrl': scene.model.url,
        'handshake.permissions.mode': 'acceptEdits',
        'handshake.review.merge': 'uncommitted',
      });
      await window.openView('Handshake');
      await window.treeRow('Board', subject).waitFor();
      // The browser keeps what was open some seconds ago.
      if ((await tabs(window)).length > 0) await window.runCommand('View: Close All Editors');
      await begins(subject);
      await page.locator('.multiDiffEditor').getByText('Say when to run them.').first().waitFor();
      await window.view('Review').getByText('1 comment goes with it when you send it back.').waitFor();
      await clickViewAction(window, 'Review', 'Send Work Back…');
      await window.answerInput('Nearly.');
      await scene.model.waitForRequest(
        ({ member, body }) =>
          member === 'ann' &&
          /Nearly\.\n\nREADME\.md:6\n> {5}npm test {6}# runs the tests\nSay when to run them\./.test(
            newsOf(body),
          ),
      );
      await hasTabs(window);
      await eventually(
        async () =>
          (await scene.log()).filter(
            (line) => line.event === 'task' && line.id === id && line.change === 'completed',
          ),
        (times) => times.length === 2,
        'ann to have finished it again',
      );
      await window.treeRow('Board', subject).waitFor();

      const head = await git('rev-parse', 'HEAD');
      await begins(subject);
      await page.locator('.multiDiffEditor').getByText('# must pass before a commit').first().waitFor();
      // What was not seen is not accepted.
      await writeFile(scene.file('.team', 'worktrees', id, 'NOTES.md'), 'Mine.\n');
      await clickViewAction(window, 'Review', 'Accept Work');
      await told('The work has changed since it was shown.');
      await lists('NOTES.md', 'README.md');
      await clickViewAction(window, 'Review', 'Accept Work');
      await told(`${id} is in main: 2 files, not committed.`);
      await isHome(subject);
      assert.equal(await git('rev-parse', 'HEAD'), head);
      assert.match(await git('status', '--porcelain'), /^ M README\.md$[\s\S]*^\?\? NOTES\.md$/m);
      assert.match(await readFile(scene.file('README.md'), 'utf8'), /# must pass before a commit/);
    });
  });

  async function appears(view: Locator): Promise<boolean> {
    try {
      await view.waitFor({ timeout: patience / 6 });
      return true;
    } catch (error) {
      if (error instanceof errors.TimeoutError) return false;
      throw error;
    }
  }

  /** Resolves with the newest commit, as it is told, once there are so many new ones. */
  async function commitsSince(begun: string, count: number): Promise<string> {
    await eventually(
      () => git('rev-list', '--count', `${begun}..HEAD`),
      (found) => Number(found) === count,
      `${count} commits`,
    );
    return (await git('rev-parse', 'HEAD')).slice(0, 8);
  }
}
