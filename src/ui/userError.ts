import { plainLine } from './plainText';

/** A button beside a message. */
export interface UserAction {
  label: string;
  run(): void;
}

/** A failure in words for the user, with the buttons that help. */
export class UserError extends Error {
  override readonly name = 'UserError';
  constructor(
    message: string,
    readonly actions: readonly UserAction[] = [],
  ) {
    super(message);
  }
}

/** The user left a question unanswered: nothing is done and nothing is said. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';
}

/** The message of whatever was thrown, as plain text. */
export function problemText(error: unknown): string {
  return plainLine(error instanceof Error ? error.message : String(error), 400);
}
