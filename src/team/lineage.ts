import * as z from 'zod';

/**
 * Which of several journals is the team's. A window that adopts a team goes on with it in a journal of its own, and
 * counts one up: whoever still runs the team from an older journal sees that in `.team/config.json`.
 */
export const adoptionShape = z.object({ count: z.int().positive(), id: z.string().min(1) });
export type Adoption = z.infer<typeof adoptionShape>;

/** Whether `one` came after `other`; of two at the same time the same one in every window. */
export function isLater(one: Adoption | undefined, other: Adoption | undefined): boolean {
  if (one === undefined) return false;
  if (other === undefined || one.count !== other.count) return one.count > (other?.count ?? 0);
  return one.id > other.id;
}

/** The adoption that follows one that was found. */
export function nextAdoption(found: Adoption | undefined, uuid: string): Adoption {
  return { count: (found?.count ?? 0) + 1, id: uuid };
}

/** What lines of a team's inboxes are marked with, so that another team's are known by it. */
export function lineageOf(team: { teamId: string; adoption: Adoption | undefined }): string {
  return team.adoption === undefined ? team.teamId : `${team.teamId}/${team.adoption.id}`;
}
