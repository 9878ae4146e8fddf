import * as vscode from 'vscode';
import * as z from 'zod';
import { LEAD } from '../../protocol';
import { Commands } from '../contributions';
import type { Seat } from '../seat';
import { Cancelled, UserError } from '../userError';
import { askForWorkspaceKey } from '../workspaceKey';
import { registerCommand } from './register';

/** Commands about sources of words that need the human's consent. */
export function registerSourceCommands(seat: Seat): vscode.Disposable[] {
  const { log, session, attention } = seat;
  return [
    registerCommand(Commands.useWorkspaceKey, log, async (call) => {
      await useWorkspaceKey(seat, call.asks ? undefined : call.get(0, 'use', z.boolean()));
    }),
    registerCommand(Commands.allowModelAccess, log, async () => {
      const core = await session.require();
      const names = [LEAD, ...core.members().map(({ name }) => name)].filter(
        (name) => core.activity(name).hold?.kind === 'no_access',
      );
      if (names.length === 0) {
        throw new UserError(vscode.l10n.t('No member waits for access to a language model.'));
      }
      for (const name of names) attention.mark(name);
      core.recheck('no_access');
    }),
  ];
}

/** A person is always asked: a key of a repository is not for other extensions or keybindings to take. */
async function useWorkspaceKey(seat: Seat, use: boolean | undefined): Promise<void> {
  const { choice, files } = seat;
  await choice.loaded;
  await choice.readFiles();
  if (files.agreed && use !== true) {
    await choice.useWorkspaceKey(undefined);
    void vscode.window.showInformationMessage(
      vscode.l10n.t('The key in {0} is no longer used.', files.offered?.file.name ?? ''),
    );
    return;
  }
  if (use === false || files.agreed) return;
  if (!files.offered) {
    throw new UserError(
      vscode.l10n.t(
        'There is no key in .claude/settings.json or .env of this workspace (ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN).',
      ),
    );
  }
  if (!(await askForWorkspaceKey(seat, files.offered))) throw new Cancelled();
}
