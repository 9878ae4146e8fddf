import { findRole, type GrantedRole, problemPlace, type Role, type RoleList } from '../protocol';
import { FreshLook } from '../team/freshLook';
import type { RoleSource, UsedRole } from '../team/ports';
import { grantOf, modelOf, type Tool } from '../tools';

/** How many roles the lead is told of, and how much of each. */
const MOST_TOLD = 40;
const LONGEST_TOLD = 300;

/** The roles of the workspace as they are in its files now; what is wrong with a file is told once. */
export class RoleBook implements RoleSource {
  readonly #told = new Set<string>();
  readonly #reads = new FreshLook(() => this.#read());

  constructor(
    private readonly read: () => Promise<RoleList>,
    private readonly tools: readonly Tool[],
    private readonly tell: (level: 'info' | 'warning', text: string) => void,
  ) {}

  /** As the files are now. */
  list(): Promise<RoleList> {
    return this.#reads.now();
  }

  async use(name: string): Promise<UsedRole | undefined> {
    const role = findRole((await this.list()).roles, name);
    if (role === undefined) return undefined;
    const model = modelOf(role);
    return { name: role.name, granted: this.grant(role), ...(model === undefined ? {} : { model }) };
  }

  grant(role: Role): GrantedRole {
    return grantOf(role, this.tools);
  }

  /** What the lead's model is told of the roles there are; empty where there is none. */
  async describe(): Promise<string> {
    const { roles } = await this.list();
    if (roles.length === 0) return '';
    const lines = roles.slice(0, MOST_TOLD).map(({ name, description }) => {
      const about = description.replace(/\s+/g, ' ').slice(0, LONGEST_TOLD);
      return about === '' ? `- ${name}` : `- ${name}: ${about}`;
    });
    if (roles.length > MOST_TOLD) lines.push(`- and ${roles.length - MOST_TOLD} more`);
    return lines.join('\n');
  }

  async #read(): Promise<RoleList> {
    const list = await this.read();
    for (const problem of list.problems) {
      const text = `${problemPlace(problem)}: ${problem.shadowed ? 'this role is not used' : 'not a role that can be used'}: ${problem.text}.`;
      // A file may change what is wrong with it as often as it likes; what is kept of it stays small.
      if (this.#told.has(text) || this.#told.size >= 1000) continue;
      this.#told.add(text);
      this.tell(problem.shadowed ? 'info' : 'warning', text);
    }
    return list;
  }
}
