import type { Frame } from 'playwright-core';
import { text, toolUse } from '../../model-server';
import { eventually } from '../driver-wait';
import { bash, held, spawn, submit } from '../support/lines';
import type { Scene } from '../support/scene';

const PLAN = `# Split the router by resource

\`src/router.js\` holds the table of routes, the matching and the handlers in one file. I move them apart
in two steps; the tests run after each.

1. **Routes.** Move the handlers of notes to \`src/routes/notes.js\`. \`src/router.js\` keeps the matching.
2. **Errors.** Give the answers for *not found* and *bad request* one place, \`src/routes/errors.js\`.

| Step | Risk | Taken back by |
|---|---|---|
| Routes | an import that is missed | one commit, reverted |
| Errors | a status code that changes | the tests of the server |

No answer of the API changes. I touch nothing else.`;

const COMMAND = 'npm test -- --test-reporter=spec && git diff --stat';

/**
 * Every view and panel, as a person sees them, in two themes; the pictures are kept in `test-results/` to be
 * looked at. `picture-readme.png` is the `docs/handshake.png` of the README.
 */
export function pictures(scene: Scene): void {
  describe('pictures', () => {
    before(() => scene.fresh());

    const thinks = held();
    after(() => thinks.release());

    let ids: { plan: string; shutdown: string; command: string; edit: string };

    it('of a notification', async () => {
      const { window } = scene;
      await window.runCommand('Handshake: Start a New Conversation');
      await (await scene.conversation()).locator('.welcome').waitFor();
      scene.play({
        lead: [
          [
            text('I start **bob** on the router, with a plan first, and **alice** on the tests.'),
            spawn('bob', { role: 'coder', prompt: 'Split the router by resource.', plan: true }),
            spawn('alice', { role: 'tester', prompt: 'Run the tests.' }),
          ],
          [text('Both are at work. I tell you when there is something to decide.')],
          [
            text(
              'bob has submitted his plan: two steps, with the tests after each, and no answer of the API changes. ' +
                'I have no objection. **The decision is yours.**',
            ),
          ],
        ],
        bob: [
          [toolUse('read_file', { path: 'src/router.js' })],
          [submit(PLAN, { files: ['src/routes/**', 'src/router.js'], commands: ['npm test'] })],
        ],
        alice: [[bash(COMMAND, 'The state of the tests before anything changes')]],
      });
      await scene.tell(
        'Split the router into one file per resource. It is risky: have bob plan it first, and let alice run the tests.',
      );
      const plan = await scene.pending('bob');
      const command = await scene.pending('alice');
      await window.page.locator('.notification-toast').first().waitFor();
      await window.page.mouse.move(700, 300);
      await window.screenshot('picture notification');
      // One after the other: the next is told when the first is gone.
      await eventually(
        async () => {
          const shown = await window.notifications();
          if (shown.length > 0) await window.runCommand('Notifications: Clear All Notifications');
          return shown.map(({ message }) => message).join();
        },
        (cleared) => cleared.includes('bob asks'),
        'the notification about the plan',
      );
      ids = { plan: plan.id, command: command.id, shutdown: '', edit: '' };
    });

    it('of the whole, for the README', async () => {
      const { window } = scene;
      await window.setTheme('Dark Modern');
      await window.widenSideBar(90);
      await window.treeRow('Requests', ids.plan).click();
      await drawn(await scene.panel(ids.plan));
      await window.page.mouse.move(700, 300);
      await window.screenshot('picture readme');
    });

    it('of what else can wait', async () => {
      const { window } = scene;
      scene.play({
        lead: [[spawn('carol', { role: 'reviewer' }), spawn('dave', { role: 'writer' })]],
        carol: [[text('The review is done.')], () => thinks.until.then(() => [text('Bye.')])],
        dave: [
          [toolUse('read_file', { path: 'README.md' })],
          [
            toolUse('edit_file', {
              path: 'README.md',
              old_text: 'A small HTTP API that keeps notes in memory.',
              new_text:
                'A small HTTP API for notes. It keeps them in memory: after a restart it begins with none.',
            }),
          ],
        ],
      });
      await scene.tell('Let carol review the store, and dave mend the README.');
      await scene.becomes('carol', 'idle');
      await window.chooseFromContextMenu('Team', 'carol', 'Request Shutdown');
      ids.shutdown = (await scene.pending('carol')).id;
      ids.edit = (await scene.pending('dave')).id;
      await window.runCommand('Notifications: Clear All Notifications');
    });

    for (const theme of ['Light Modern', 'Dark Modern']) {
      const name = theme.split(' ')[0]?.toLowerCase() ?? '';

      it(`of panels and views in ${theme}`, async () => {
        const { window } = scene;
        await window.setTheme(theme);
        const { plan, shutdown, command, edit } = ids;
        for (const [what, id] of Object.entries({ shutdown, command, edit, overview: plan })) {
          await window.treeRow('Requests', id).click();
          await drawn(await scene.panel(id));
          await window.page.mouse.move(700, 300);
          await window.screenshot(`picture ${what} ${name}`);
        }
        await window.runCommand('Handshake: Open Conversation in the Editor Area');
        const twice = () =>
          window.webviewFrames((frame) => frame.locator('.log .assistant').first().isVisible());
        const frames = await eventually(twice, (all) => all.length === 2, 'the Conversation in the tab too');
        for (const frame of frames) await drawn(frame);
        await window.screenshot(`picture conversation tab ${name}`);
        await window.runCommand('View: Close All Editors');
      });
    }

    it('of nothing to show yet', async () => {
      const { window } = scene;
      thinks.release();
      await scene.fresh();
      await window.runCommand('Handshake: Start a New Conversation');
      for (const theme of ['Dark Modern', 'Light Modern']) {
        await window.setTheme(theme);
        await drawn(await scene.conversation());
        await window.screenshot(`picture empty ${theme}`);
      }
    });
  });
}

/** Resolves when a page has its icons. */
async function drawn(page: Frame): Promise<void> {
  await page.evaluate(
    'document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => done())))',
  );
}
