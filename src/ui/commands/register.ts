import * as vscode from 'vscode';
import * as z from 'zod';
import { argumentText } from '../argumentText';
import { REVIEW_SCHEME } from '../contributions';
import { isNode } from '../nodes';
import { reportProblem } from '../report';
import { Cancelled, UserError } from '../userError';

/** What a command was called with. Without arguments it asks the user for what it needs. */
export interface Call {
  readonly asks: boolean;
  /**
   * The argument at a position, parsed.
   * @throws {Error} that names the argument
   */
  get<T>(index: number, name: string, schema: z.ZodType<T>): T;
}

/**
 * Registers a command. Called by the user (no arguments) a failure becomes a message. Called with arguments
 * it is the caller's: the command rejects, and VS Code shows that to a user who bound it to a key.
 */
export function registerCommand(
  id: string,
  log: vscode.LogOutputChannel,
  run: (call: Call) => Promise<unknown>,
): vscode.Disposable {
  return vscode.commands.registerCommand(id, async (...raw: unknown[]) => {
    const call = readCall(id, raw);
    try {
      return await run(call);
    } catch (error) {
      if (error instanceof Cancelled) return undefined;
      const helps = error instanceof UserError && error.actions.length > 0;
      if (call.asks || helps) reportProblem(error, log);
      if (call.asks) return undefined;
      throw error;
    }
  });
}

/** Registers a command of the trees' rows, whose failures always become a message. */
export function registerRowCommand(
  id: string,
  log: vscode.LogOutputChannel,
  run: (row: unknown, rows: readonly unknown[]) => Promise<void>,
): vscode.Disposable {
  return vscode.commands.registerCommand(id, async (row: unknown, rows: unknown) => {
    try {
      await run(row, Array.isArray(rows) && rows.length > 0 ? rows : [row]);
    } catch (error) {
      reportProblem(error, log);
    }
  });
}

/**
 * Why a row's command has no row. While a list is being drawn anew VS Code may not know any more which row was
 * clicked, and hands over nothing.
 * @param belongs the words for somebody who called the command without a row
 */
export function noRow(row: unknown, belongs: string): UserError {
  if (row !== undefined && row !== null) return new UserError(belongs);
  return new UserError(
    vscode.l10n.t('The list was just being drawn anew, and nothing was done. Please click again.'),
  );
}

function readCall(id: string, raw: readonly unknown[]): Call {
  // A keybinding's "args" list comes as one argument.
  const [first] = raw;
  const listed = raw.length === 1 && Array.isArray(first) && !isNode(first);
  // Buttons in the title of a review's diff hand over what it shows.
  const ofDiff = first instanceof vscode.Uri && first.scheme === REVIEW_SCHEME;
  const list: readonly unknown[] = ofDiff ? [] : listed ? first : raw;
  // Buttons in a tree's title hand over the tree's rows; null and undefined are what is left out.
  const given = list.map((value) => (isNode(value) || value === null ? undefined : value));
  return {
    asks: given.every((value) => value === undefined),
    get(index, name, schema) {
      const parsed = schema.safeParse(given[index]);
      if (parsed.success) return parsed.data;
      throw new Error(argumentText(id, name, given[index], parsed.error));
    },
  };
}

export const requiredText = z.string().trim().min(1);
export const optionalText = z.string().optional();
