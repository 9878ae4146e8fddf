import { ModelError } from '../model/port';
import type { TurnError } from '../team/events';

/** What the user is told of a failed turn. */
export function turnErrorOf(error: unknown): TurnError {
  if (error instanceof ModelError) return { kind: error.kind, text: error.message };
  if (error instanceof Error && error.name === 'StorageError')
    return { kind: 'storage', text: error.message };
  const text = error instanceof Error ? error.message : String(error);
  return {
    kind: 'internal',
    text: `Something went wrong inside Handshake: ${text}. The log has the details.`,
  };
}
