import type { ToolSpec } from '../model/port';
import { type ApprovalPolicy, LEAD } from '../protocol';
import { keepsTool } from './roleTools';
import { faceFor, specOf, type Tool, type ToolEffect, type ToolFace } from './tool';

/** The tools that one model call offers. What is not among them does not exist for that call's answer. */
export class OfferedTools {
  readonly specs: readonly ToolSpec[];
  readonly #byName: ReadonlyMap<string, { tool: Tool; face: ToolFace }>;

  /** @param all every tool of the team, offered or not */
  constructor(
    tools: readonly Tool[],
    member: string,
    private readonly all: readonly Tool[],
  ) {
    this.specs = tools.flatMap((tool) => specOf(tool, member) ?? []);
    this.#byName = new Map(
      tools.flatMap((tool) => {
        const face = faceFor(tool, member);
        return face ? [[tool.name, { tool, face }] as const] : [];
      }),
    );
  }

  find(name: string): { tool: Tool; face: ToolFace } | undefined {
    return this.#byName.get(name);
  }

  /** Also of a tool that is not offered any more, such as one that was begun before the settings changed. */
  effectOf(name: string): ToolEffect | undefined {
    return this.all.find((tool) => tool.name === name)?.effect;
  }
}

/** All tools of a team: Handshake's own, and those that others bring. */
export class ToolTable {
  readonly #tools: readonly Tool[];
  readonly #offered = new Map<string, OfferedTools>();

  /** @throws when two tools have one name, or a foreign one does not say that it is */
  constructor(own: readonly Tool[], foreign: readonly Tool[] = []) {
    for (const tool of foreign) {
      if (!tool.foreign) throw new Error(`The tool '${tool.name}' has to be marked as foreign.`);
      if (tool.effect !== 'workspace') {
        throw new Error(`The foreign tool '${tool.name}' has to have the effect 'workspace'.`);
      }
    }
    this.#tools = [...own, ...foreign];
    const names = this.#tools.map(({ name }) => name);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) throw new Error(`There are two tools named '${twice}'.`);
  }

  /** Every tool, whoever has it. */
  get all(): readonly Tool[] {
    return this.#tools;
  }

  /**
   * What a member is offered now; the same object for the same role, policy and narrowing, so that requests repeat
   * byte for byte.
   * @param only the tools of the workspace that it is narrowed to by its role file
   */
  offeredTo(member: string, policy: ApprovalPolicy, only?: readonly string[]): OfferedTools {
    const role = member === LEAD ? 'lead' : 'teammate';
    const tools = this.#tools.filter(
      (tool) =>
        faceFor(tool, member) !== undefined && (tool.offeredWhile?.(policy) ?? true) && keepsTool(tool, only),
    );
    const key = `${role} ${tools.map(({ name }) => name).join(' ')}`;
    let found = this.#offered.get(key);
    if (!found) {
      found = new OfferedTools(tools, member, this.#tools);
      this.#offered.set(key, found);
    }
    return found;
  }
}
