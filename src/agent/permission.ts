import type { Gate } from '../protocol';
import type { PermissionMode } from '../team/settings';

/**
 * Whether a call needs the human's permission. An approved plan covers the file changes of its task; what an
 * approved plan does not name, such as a command, is asked for.
 */
export function needsPermission(mode: PermissionMode, access: 'command' | 'edit', gate: Gate): boolean {
  if (mode === 'allow') return false;
  if (access === 'edit') return mode !== 'acceptEdits' && gate !== 'approved';
  return true;
}
