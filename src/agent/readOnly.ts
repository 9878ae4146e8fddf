/** Why a window only shows a team. */
export type ReadOnlyReason =
  /** Another process runs it. `since` in milliseconds since 1970. */
  | { kind: 'held'; pid: number; since: number }
  /** The window that ran it is gone; nobody runs it. */
  | { kind: 'free' }
  /** `.team/config.json` names a team whose journal is not in this window's storage. */
  | { kind: 'foreign'; teamName: string }
  /** The team was run here until another window, with a journal of its own, adopted it. */
  | { kind: 'adopted'; teamName: string }
  /** None of the journal's lines was signed with the key of this machine (or browser). */
  | { kind: 'foreign_key' }
  /** Its storage cannot be written. */
  | { kind: 'storage'; text: string };

/** Something was to be changed in a window that only shows the team. Nothing was changed. */
export class ReadOnlyError extends Error {
  override readonly name = 'ReadOnlyError';
  readonly code = 'read_only';
  constructor(readonly reason: ReadOnlyReason) {
    super(readOnlyText(reason));
  }
}

/** Why, and what to do about it, in words for the user. */
export function readOnlyText(reason: ReadOnlyReason): string {
  switch (reason.kind) {
    case 'held':
      return `Another window (process ${reason.pid}) runs this team; here it is read-only. Run "Handshake: Take Over" to run it in this window.`;
    case 'free':
      return 'The window that ran this team is gone; here it is read-only. Run "Handshake: Take Over" to run it in this window.';
    case 'foreign':
      return `The team '${reason.teamName}' of this folder was run elsewhere: its journal is not here, so it is read-only. Run "Handshake: Adopt Team" to go on with it in this window.`;
    case 'adopted':
      return `The team '${reason.teamName}' was adopted by another window that keeps its journal elsewhere, and goes on there; here it is read-only. Run "Handshake: Adopt Team" to take it back.`;
    case 'foreign_key':
      return 'The journal of this team is signed with another key than the one kept here: another browser or machine ran the team, or somebody replaced the journal. It is read-only. Look through it; if you know which, run "Handshake: Adopt Team" to go on with it in this window.';
    case 'storage':
      return `This team is read-only: ${reason.text} It is tried again by itself; "Handshake: Take Over" tries it now.`;
  }
}
