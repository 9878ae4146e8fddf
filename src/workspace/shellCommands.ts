import { type ShellToken, type ShellWord, shellTokens } from './shellWords';

/** One command with its words, as far as it can be told without a shell. */
export interface SimpleCommand {
  readonly kind: 'command';
  /** Empty where there are only assignments or redirections. */
  readonly name: string;
  readonly args: readonly ShellWord[];
  /** `NAME=value` before it. */
  readonly assigned: readonly ShellWord[];
  readonly redirects: readonly { readonly word: ShellWord; readonly writes: boolean }[];
}

/** What stands between two commands, or around some. */
export interface Joint {
  readonly kind: 'joint';
  readonly text: ';' | '&&' | '||' | '|' | '&' | '(' | ')';
}

/** Words that stand before a command and are none. */
const BEFORE: ReadonlySet<string> = new Set([
  '!',
  'builtin',
  'command',
  'do',
  'elif',
  'else',
  'exec',
  'if',
  'then',
  'time',
  'until',
  'while',
]);
const SHELLS = /^(\/(usr\/)?bin\/)?(ba|da|k|z)?sh$/;
const SHELL_LINE = /(^|[\s;&|(])(\/(usr\/)?bin\/)?(ba|da|k|z)?sh(\s+-[\w-]+)*\s*$/;
/** Its beginning, the rest of that line, and what stands in it. */
const HERE_DOCUMENT = /<<-?\s*(['"]?)(\w+)\1([^\n]*)\n([\s\S]*?)^\s*\2[ \t]*$/gm;

/** The commands of a command line, in their order. What here-documents hold is left out, but for a shell's script. */
export function shellCommands(command: string): (SimpleCommand | Joint)[] {
  const parts: (SimpleCommand | Joint)[] = [];
  let words: ShellWord[] = [];
  let redirects: SimpleCommand['redirects'] = [];
  let pending: '<' | '>' | undefined;
  const end = (): void => {
    if (words.length > 0 || redirects.length > 0) parts.push(commandOf(words, redirects));
    words = [];
    redirects = [];
    pending = undefined;
  };
  for (const token of shellTokens(withoutHereDocuments(command))) {
    if (token.kind === 'word') {
      if (pending === undefined) words.push(token);
      else redirects = [...redirects, { word: token, writes: pending === '>' }];
      pending = undefined;
    } else if (isRedirect(token)) pending = token.text === '<' ? '<' : '>';
    else {
      end();
      parts.push({ kind: 'joint', text: token.text as Joint['text'] });
    }
  }
  end();
  return parts;
}

/** The scripts that a command gives a shell as a word: `sh -c '…'`. */
export function scriptsOf({ name, args }: SimpleCommand): string[] {
  const words = [name, ...args.map(({ text }) => text)];
  return words.flatMap((word, at) => {
    if (!SHELLS.test(word)) return [];
    const option = words.findIndex((one, i) => i > at && /^-[a-z]*c$/.test(one));
    const script = option < 0 ? undefined : words[option + 1];
    return script === undefined ? [] : [script];
  });
}

function commandOf(words: readonly ShellWord[], redirects: SimpleCommand['redirects']): SimpleCommand {
  let first = 0;
  const assigned: ShellWord[] = [];
  for (; first < words.length; first++) {
    const word = words[first];
    if (word === undefined) break;
    if (/^[A-Za-z_]\w*=/.test(word.text)) assigned.push(word);
    else if (!BEFORE.has(word.text)) break;
  }
  const name = words[first]?.text ?? '';
  return { kind: 'command', name, args: words.slice(first + 1), assigned, redirects };
}

function isRedirect(token: ShellToken): boolean {
  return token.kind === 'operator' && (token.text === '<' || token.text === '>');
}

/** What a here-document holds is no command, but where a shell reads it. */
function withoutHereDocuments(command: string): string {
  return command.replace(HERE_DOCUMENT, (...found: unknown[]) => {
    const [, , , rest, body, at] = found as [string, string, string, string, string, number];
    const before = command.slice(command.lastIndexOf('\n', at) + 1, at);
    const script = SHELL_LINE.test(before) ? ` -c '${body.replaceAll("'", "'\\''")}'` : '';
    return `${script}${rest}\n`;
  });
}
