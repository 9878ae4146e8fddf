import * as z from 'zod';

/** Reusable roles: a file of the workspace that says how a teammate with this role works. */

/** What a role file says, as it stands there; the names of tools are the file's own. */
export interface Role {
  readonly name: string;
  /** What it is for; empty where the file does not say. */
  readonly description: string;
  /** Absent: the file leaves all tools. */
  readonly tools?: readonly string[];
  readonly model?: string;
  readonly instructions: string;
  /** From the workspace folder, with `/`. */
  readonly file: string;
}

/** A role file that cannot be used, or is not used. */
export interface RoleProblem {
  readonly file: string;
  /** Counted from 1; absent where it is about the whole file. */
  readonly line?: number;
  readonly text: string;
  /** The file is fine; another one of the same name goes before it. */
  readonly shadowed?: true;
}

export interface RoleList {
  /** By name, each name once. */
  readonly roles: readonly Role[];
  readonly problems: readonly RoleProblem[];
}

/**
 * What a teammate got from its role file. It is journaled with the teammate: a file that changes later changes
 * nothing for one that runs.
 */
export const grantedRole = z.object({
  file: z.string(),
  instructions: z.string(),
  /** Handshake's names of the tools it is narrowed to; absent: not narrowed. */
  tools: z.array(z.string()).optional(),
  /** What the file names and Handshake does not have, as it stands there. */
  unknownTools: z.array(z.string()).optional(),
  /** A model family that the file names, where the usual model was taken in its place. */
  unknownModel: z.string().optional(),
});
export type GrantedRole = z.infer<typeof grantedRole>;

/** Where a problem is, as `.claude/agents/x.md:3`. */
export function problemPlace({ file, line }: RoleProblem): string {
  return line === undefined ? file : `${file}:${line}`;
}

/** The role of that name; case and blanks around it make no difference. */
export function findRole(roles: readonly Role[], name: string): Role | undefined {
  const key = roleKey(name);
  return roles.find((role) => roleKey(role.name) === key);
}

export function roleKey(name: string): string {
  return name.trim().toLowerCase();
}
