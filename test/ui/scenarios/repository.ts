import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Scene } from '../support/scene';
import { CHECK, reviews } from './reviews';
import { teamwork } from './teamwork';

const run = promisify(execFile);

/** Work in a folder that is a git repository. The window keeps `acceptEdits`. */
export function repository(scene: Scene): void {
  describe('in a git repository', () => {
    before(async () => {
      const commands = [
        ['init', '-q', '-b', 'main'],
        ['config', 'user.name', 'Kim'],
        ['config', 'user.email', 'kim@example.org'],
        ['add', '-A'],
        ['commit', '-qm', 'The notes'],
      ];
      // VS Code finds it when the window opens.
      for (const command of commands) await run('git', command, { cwd: scene.file() });
      await scene.window.replaceUserSettings({
        'handshake.baseUrl': scene.model.url,
        'handshake.permissions.mode': 'acceptEdits',
        'handshake.review.checkCommand': CHECK,
      });
      await scene.window.openView('Handshake');
      // A window that was arranged just now forgets over a reload that its second side bar was open.
      await scene.window.runCommand('Handshake: Open Conversation');
      await scene.conversation();
    });

    teamwork(scene);
    reviews(scene);
  });
}
