/** What a caller did wrong, in words for it; nothing was changed. */
export class TeamError extends Error {
  override readonly name = 'TeamError';
}
