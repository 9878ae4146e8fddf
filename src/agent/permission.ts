import type { Gate } from '../protocol';
import type { PermissionMode } from '../team/settings';

/** `steering`: a change of a file that says what programs run or how agents behave. */
export type AskedAccess = 'command' | 'edit' | 'steering';

/**
 * Whether a call needs the human's permission. An approved plan covers the file changes of its task; what an
 * approved plan does not name, such as a command, is asked for, and so is what works like one.
 */
export function needsPermission(mode: PermissionMode, access: AskedAccess, gate: Gate): boolean {
  if (mode === 'allow') return false;
  if (access === 'edit') return mode !== 'acceptEdits' && gate !== 'approved';
  return true;
}
