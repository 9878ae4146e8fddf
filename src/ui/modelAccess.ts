import type * as vscode from 'vscode';
import type { Attention } from '../model/attention';
import { HUMAN } from '../protocol';
import type { Session } from './session';

/**
 * What the human does counts as the action that VS Code wants before it asks for access to its models: the next
 * call of the member that was spoken to may open the question.
 */
export function attendTo(session: Session, attention: Attention): vscode.Disposable {
  return session.onEvent((event) => {
    if (event.type !== 'message') return;
    const { from, to, external } = event.message;
    // What another program wrote into an inbox is no action of the human.
    if (from === HUMAN && external !== true) attention.mark(to);
  });
}

/** Lets members go on that had work left, at the human's word. */
export function resumeTeam(session: Session, attention: Attention): void {
  const core = session.core();
  for (const name of core?.resumable() ?? []) attention.mark(name);
  core?.resume();
}
