/** Who a clause speaks of: teammates by name, by pronoun, and those that it brings in. */

/** What can stand where a name stands; pronouns included. */
export const NAME = '["\'`“]?[A-Za-z][A-Za-z0-9_-]{0,31}["\'`”]?';

const ROLE_STOP = /\s+(?:to|with|for|who|that|and|in|on|called|named)\s/i;
const NOT_A_NAME = new Set(
  `a an the this that these those some any every each all new another other one two three
  to of for from with and or then in on at by as is are was be who what which if so not no yes
  plan plans shutdown shut down request requests approval approve accept reject decline deny refuse review turn
  status team teammate teammates member members agent agents lead human everyone everybody both
  her his him he she it its their them they himself herself themselves me my your our we you i
  ask tell have let make get want need send stop dismiss terminate end please submit write prepare
  now later again after before once when soon`.split(/\s+/),
);
/** What gives a teammate a role of its own. */
const ROLE_GIVEN = /\b(?:an?|the|as|role|who|who's|called|named)\b|\(/i;
const THINGS =
  /\b(?:file|folder|directory|tests?|routes?|function|class|module|branch|endpoint|variable|script|package|worktree)$/i;
const VERBS_OF_TASKS =
  /^(?:work|talk|go|come|start|continue|help|look|listen|wait|report|respond|write|read|add|run)$/i;

export interface Spawn {
  name: string;
  role: string;
  task: string;
}

/** `Spawn alice as a coder`, `Create a teammate called Zed with …`, `Hire a tester named ann to …`. */
export function readSpawn(clause: string): Spawn | undefined {
  const verb = /^(spawn|launch|hire|create|start|add|make|bring in|set up)\s+(.+)$/i.exec(clause);
  const [, how, what] = verb ?? [];
  if (!how || !what) return undefined;
  // Named outright: passed on as it is, so that a bad name is refused by the team and with its reasons.
  const outright = /^(\S+)\s+(as\s+(?:an?|the)\s.+)$/i.exec(what);
  if (
    outright?.[1] &&
    /^(?:spawn|launch|hire)$/i.test(how) &&
    !/^(?:an?|the|new|another|team\s?mate|agent|member)$/i.test(outright[1])
  ) {
    const { role, task } = readRest(outright[2] ?? '');
    return { name: clean(outright[1]), role: role || guessRole(task), task };
  }
  const called = new RegExp(`^(.*?)\\s*\\b(?:called|named|by the name of)\\s+(${NAME})(.*)$`, 'i').exec(what);
  if (called?.[2] && !THINGS.test(called[1] ?? '')) {
    const role = roleOf(called[1] ?? '');
    const rest = readRest(called[3] ?? '');
    return spawn(called[2], rest.role || role, rest.task);
  }
  // `Create a file` and `Start the server` bring nobody in.
  const isTeammate = /^(?:an?\s+|the\s+)?(?:new\s+)?(?:team\s?mate|agent|member)\b/i.test(what);
  if (!isTeammate && !/^(?:spawn|launch|hire)$/i.test(how)) return undefined;
  const direct = what.replace(/^(?:an?\s+|the\s+)?(?:new\s+)?(?:team\s?mate|agent|member)\s*/i, '');
  const unnamed = /^(?:an?|the|another)\s+(.+)$/i.exec(direct);
  if (unnamed?.[1]) {
    // `Spawn a coder`: the role has to do as a name.
    const [role = '', ...rest] = unnamed[1].split(ROLE_STOP);
    const task =
      rest.length > 0 ? unnamed[1].slice(role.length).replace(/^\s*(?:to|with|for|who|that)\s+/i, '') : '';
    return spawn(role.trim().replace(/\s+/g, '-'), role.trim(), task);
  }
  return spawnContinued(direct, true);
}

/** `bob as a tester`, `bob to write tests`, or a bare `bob`, after a spawn. */
export function spawnContinued(clause: string, first = false): Spawn | undefined {
  const match = new RegExp(`^(${NAME})((?:\\s*\\(|\\s+(?:as|to|with|for|who|that)\\b).*)?$`, 'i').exec(
    clause,
  );
  const [, name, rest = ''] = match ?? [];
  if (!name || NOT_A_NAME.has(clean(name)) || (!first && VERBS_OF_TASKS.test(clean(name)))) return undefined;
  const { role, task } = readRest(rest);
  return spawn(name, role, task);
}

/** The role of a clause in the plural, such as `gus as coders`: it is that of those before it as well. */
export function sharedRole(clause: string): string | undefined {
  const as = /\s+as\s+(?!(?:an?|the|our|my)\s)(.+)$/i.exec(clause)?.[1];
  const role = tidyRole(as?.split(ROLE_STOP)[0] ?? '');
  return /[^s]s$/.test(role) && !/ops$/.test(role) ? role.slice(0, -1) : undefined;
}

export function givesRole(clause: string): boolean {
  return ROLE_GIVEN.test(clause);
}

function spawn(name: string, role: string, task: string): Spawn | undefined {
  const known = clean(name);
  if (NOT_A_NAME.has(known) || known === '') return undefined;
  return { name: known, role: role || guessRole(task), task: task.trim() };
}

function readRest(rest: string): { role: string; task: string } {
  const trimmed = rest.trim();
  const brackets = /^\(([^)]+)\)\s*(.*)$/.exec(trimmed);
  if (brackets) return { role: tidyRole(brackets[1] ?? ''), task: taskOf(brackets[2] ?? '') };
  const as = /^(?:as|with the role(?: of)?|who is|who's)\s+(?:(?:an?|the|our|my)\s+)?(.+)$/i.exec(trimmed);
  if (!as?.[1]) return { role: '', task: taskOf(trimmed) };
  const role = as[1].split(ROLE_STOP)[0] ?? '';
  return { role: tidyRole(role), task: taskOf(as[1].slice(role.length)) };
}

function roleOf(before: string): string {
  const words = before.replace(/\b(?:an?|the|new|another|team\s?mate|agent|member)\b/gi, ' ');
  return tidyRole(words);
}

const tidyRole = (role: string): string =>
  role
    .replace(/["'`“”]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();

const taskOf = (text: string): string =>
  text
    .trim()
    .replace(/^(?:to|with|for|who|that)\s+/i, '')
    .replace(/^(?:the\s+task\s+(?:of|to)|will|should)\s+/i, '');

function guessRole(task: string): string {
  if (/\btest/i.test(task)) return 'tester';
  if (/\breview/i.test(task)) return 'reviewer';
  if (/\bdoc(?:s|ument)/i.test(task)) return 'writer';
  return 'coder';
}

const clean = (name: string): string => name.replace(/["'`“”]/g, '').toLowerCase();

/** Keeps who was spoken of last, for `her`, `his` and `their`. */
export class Names {
  private readonly known: string[];
  private group: string[];
  private fresh = false;

  constructor(known: readonly string[]) {
    this.known = [...known];
    this.group = known.slice(-1);
  }

  startSentence(): void {
    this.fresh = true;
  }

  mention(name: string): void {
    if (!this.known.includes(name)) this.known.push(name);
    if (this.fresh) this.group = [];
    this.fresh = false;
    this.group = [...this.group.filter((other) => other !== name), name];
  }

  /** The known teammates that are named here, in order. */
  in(clause: string): string[] {
    const found = words(clause).filter((word) => this.known.includes(word));
    return [...new Set(found)];
  }

  /** Whom a single word means: a name, or a pronoun for those spoken of last. */
  resolve(word: string): string[] {
    const name = clean(word);
    if (/^(?:everyone|everybody|all)$/.test(name)) return [...this.known];
    if (/^(?:them|their|they|both)$/.test(name)) return [...this.group];
    if (/^(?:her|his|him|he|she|it|its)$/.test(name)) return this.group.slice(-1);
    if (NOT_A_NAME.has(name)) return [];
    this.mention(name);
    return [name];
  }

  /** Whom a clause is about: known names first, then a pronoun, then whatever may be a name. */
  targets(clause: string): string[] {
    const named = this.in(clause);
    for (const name of named) this.mention(name);
    if (named.length > 0) return named;
    const all = words(clause);
    const pronoun = all.find((word) =>
      /^(?:everyone|everybody|all|them|their|they|both|her|his|him|he|she|it|its)$/.test(word),
    );
    if (pronoun) return this.resolve(pronoun);
    const candidate = all.find((word) => !NOT_A_NAME.has(word));
    return candidate ? this.resolve(candidate) : [];
  }
}

function words(clause: string): string[] {
  return (clause.toLowerCase().match(/[a-z][a-z0-9_-]*/g) ?? []).filter((word) => word !== 's');
}
