import type { GrantedRole, Role } from '../protocol';
import type { Tool } from './tool';

/**
 * Names that other programs' role files use, and Handshake's for the same thing. A name that stands for several
 * tools, or for one that does less, is not here.
 */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['bash', 'bash'],
  ['read', 'read_file'],
  ['write', 'write_file'],
  ['edit', 'edit_file'],
  ['multiedit', 'edit_file'],
  ['glob', 'glob'],
  ['grep', 'grep'],
]);

/** Model families: words for whichever model of a kind is newest, which an endpoint does not know as names. */
const FAMILIES = new Set(['sonnet', 'opus', 'haiku', 'opusplan', 'default']);

/** Tools a role may take away: those that reach the workspace. Those with which a member talks it always has. */
export function isNarrowable(tool: Tool): boolean {
  return tool.effect === 'workspace' || tool.readsWorkspace === true;
}

/** Whether a member narrowed to these tools has this one. */
export function keepsTool(tool: Tool, only: readonly string[] | undefined): boolean {
  return only === undefined || !isNarrowable(tool) || only.includes(tool.name);
}

/**
 * What a role file gives: its tools in Handshake's names. What it names and nobody has gives nothing, and is said.
 * @param tools every tool of the team
 */
export function grantOf(role: Role, tools: readonly Tool[]): GrantedRole {
  const { file, instructions } = role;
  const grant: GrantedRole = { file, instructions };
  if (role.tools !== undefined) {
    const known = new Set<string>();
    const unknown: string[] = [];
    for (const written of role.tools) {
      const tool = findTool(written, tools);
      if (tool === undefined) unknown.push(written);
      else if (isNarrowable(tool)) known.add(tool.name);
    }
    grant.tools = [...known];
    if (unknown.length > 0) grant.unknownTools = unknown;
  }
  if (role.model !== undefined && FAMILIES.has(role.model.toLowerCase())) grant.unknownModel = role.model;
  return grant;
}

/** The model that a role names, as the endpoint knows it; undefined for the usual one. */
export function modelOf(role: Role): string | undefined {
  const { model } = role;
  if (model === undefined || FAMILIES.has(model.toLowerCase())) return undefined;
  return model.toLowerCase() === 'inherit' ? undefined : model;
}

/** A name with a pattern, as in `Bash(git log:*)`, is none: to give the whole tool would be more than it says. */
function findTool(written: string, tools: readonly Tool[]): Tool | undefined {
  const exact = tools.find(({ name }) => name === written);
  if (exact !== undefined) return exact;
  const alias = ALIASES.get(written.toLowerCase());
  return tools.find(({ name }) => name === alias);
}
