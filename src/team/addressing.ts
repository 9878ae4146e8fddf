import { LEAD, shorten } from '../protocol';
import { isGone, type Member } from './member';
import { TeamError } from './teamError';

/** The members, as far as it takes to find one by its name. */
export interface Listed {
  members(): readonly Member[];
  member(name: string): Member | undefined;
}

/** The addressee of a name as somebody wrote it; case does not matter. @throws {TeamError} listing the members */
export function resolveMember(listed: Listed, raw: string): Member | typeof LEAD {
  const name = raw.trim().toLowerCase();
  if (name === LEAD) return LEAD;
  const member = listed.member(name);
  if (!member) {
    throw new TeamError(`There is no member '${shorten(raw, 40)}'. ${membersHint(listed)}`);
  }
  return member;
}

/** A teammate that is still there. @throws {TeamError} */
export function resolveAlive(listed: Listed, raw: string): Member {
  const member = resolveMember(listed, raw);
  if (member === LEAD) throw new TeamError(`The lead is not a teammate. ${membersHint(listed)}`);
  if (isGone(member)) throw new TeamError(`'${member.name}' has shut down. ${membersHint(listed)}`);
  return member;
}

/** Who can be addressed, as the end of an error. */
export function membersHint(listed: Listed): string {
  const alive = listed.members().filter((member) => !isGone(member));
  return `Members: ${[LEAD, ...alive.map((member) => member.name)].join(', ')}.`;
}
