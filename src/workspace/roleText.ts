import type * as Yaml from 'yaml';
import * as z from 'zod';
import type { Role } from '../protocol';

/** A role file that cannot be used: what is wrong, and in which line (from 1) where that is known. */
export class RoleTextError extends Error {
  override readonly name = 'RoleTextError';
  constructor(
    message: string,
    readonly line?: number,
  ) {
    super(message);
  }
}

const FENCE = /^---[ \t]*$/;
/** Names become part of lists and prompts: one line, and not a whole text. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u;
const LONGEST_DESCRIPTION = 4000;
/** More nodes than this reached through aliases is a bomb, not a role. */
const MAX_ALIASES = 10;

/**
 * Reads a role file: front matter between two lines `---`, then the instructions.
 * @throws {RoleTextError}
 */
export async function readRoleText(text: string): Promise<Omit<Role, 'file'>> {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/);
  if (!FENCE.test(lines[0] ?? '')) {
    throw new RoleTextError("it does not begin with front matter between two lines '---'", 1);
  }
  const end = lines.findIndex((line, index) => index > 0 && FENCE.test(line));
  if (end === -1) throw new RoleTextError("the front matter has no end; a line '---' is missing", 1);
  const fields = readFields(await import('yaml'), lines.slice(1, end));
  const instructions = lines
    .slice(end + 1)
    .join('\n')
    .trim();
  if (instructions === '')
    throw new RoleTextError('there are no instructions below the front matter', end + 1);
  return { ...fields, instructions };
}

interface FrontMatter {
  value: unknown;
  /** The line of a field in the file. */
  lineOf(key: string): number;
}

function readFields(yaml: typeof Yaml, lines: readonly string[]): Omit<Role, 'file' | 'instructions'> {
  const { value, lineOf } = parseYaml(yaml, lines);
  const fields = z.record(z.string(), z.unknown()).safeParse(value);
  if (!fields.success) throw new RoleTextError('the front matter holds no fields such as name: …', 2);
  const take = <T>(key: string, schema: z.ZodType<T>, problem: string): T => {
    const read = schema.safeParse(fields.data[key]);
    if (read.success) return read.data;
    throw new RoleTextError(problem, key in fields.data ? lineOf(key) : 1);
  };
  const name = take('name', z.string().trim().regex(NAME), "it needs a 'name' of letters, digits, - or _");
  const description = take('description', text.optional(), "'description' has to be a text");
  const model = take('model', text.optional(), "'model' has to be a text");
  const tools = take('tools', toolList.optional(), "'tools' has to be a list, or names with commas between");
  return {
    name,
    description: (description ?? '').trim().slice(0, LONGEST_DESCRIPTION),
    ...(tools === undefined ? {} : { tools }),
    ...(model === undefined || model.trim() === '' ? {} : { model: model.trim() }),
  };
}

const text = z.string().max(64 * 1024);
const toolList = z.union([
  z.string().min(1).transform(splitTools),
  z.array(z.string().trim().min(1)).max(200),
]);

/** At commas outside parentheses: `Read, Bash(git log:*, git diff:*)` are two. */
function splitTools(written: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const char of written) {
    if (char === '(') depth++;
    else if (char === ')') depth = Math.max(0, depth - 1);
    if (char === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += char;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/** @throws {RoleTextError} with the line in the file */
function parseYaml(yaml: typeof Yaml, lines: readonly string[]): FrontMatter {
  const strict = parseLines(yaml, lines);
  if (!(strict instanceof RoleTextError)) return strict;
  // Other tools take a plain text with a colon in it, such as `description: Use when: …`, and so many files
  // have one.
  const lenient = parseLines(yaml, lines.map(quotePlain));
  if (lenient instanceof RoleTextError) throw strict;
  return lenient;
}

function parseLines(
  { LineCounter, parseDocument }: typeof Yaml,
  lines: readonly string[],
): FrontMatter | RoleTextError {
  const counter = new LineCounter();
  const document = parseDocument(lines.join('\n'), {
    lineCounter: counter,
    schema: 'failsafe',
    uniqueKeys: true,
    prettyErrors: false,
  });
  // The front matter begins in the file's second line.
  const lineAt = (offset: number): number => counter.linePos(offset).line + 1;
  const [problem] = document.errors;
  if (problem !== undefined) return new RoleTextError(firstLine(problem.message), lineAt(problem.pos[0]));
  const { contents } = document;
  try {
    return {
      value: document.toJS({ maxAliasCount: MAX_ALIASES }),
      lineOf: (key) => {
        const index = lines.findIndex((line) => line.startsWith(`${key}:`));
        return index === -1 ? lineAt(contents?.range?.[0] ?? 0) : index + 2;
      },
    };
  } catch (error) {
    return new RoleTextError(firstLine(error instanceof Error ? error.message : String(error)), 2);
  }
}

/** A field of one line whose text is not quoted, as one that is. */
function quotePlain(line: string): string {
  const field = /^([A-Za-z][\w-]*):[ \t]+([^\s"'[{|>&*!].*)$/.exec(line);
  return field === null ? line : `${field[1]}: ${JSON.stringify((field[2] ?? '').trimEnd())}`;
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0]?.replace(/[.:]$/, '') ?? message;
}
