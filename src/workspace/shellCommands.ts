import { type ShellWord, shellTokens } from './shellWords';

/** One command with its words, as far as it can be told without a shell. */
export interface SimpleCommand {
  readonly kind: 'command';
  /** Empty where there are only assignments or redirections. */
  readonly name: string;
  /** The name as it stands there. */
  readonly program: ShellWord | undefined;
  readonly args: readonly ShellWord[];
  /** `NAME=value` before it. */
  readonly assigned: readonly ShellWord[];
  readonly redirects: readonly ShellWord[];
  /** Behind a `<<<`. */
  readonly strings: readonly ShellWord[];
  /** What its here-documents hold. */
  readonly documents: readonly string[];
}

/** What stands between two commands, or around some. */
export interface Joint {
  readonly kind: 'joint';
  readonly text: ';' | '&&' | '||' | '|' | '&' | '(' | ')' | '{' | '}';
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
const SHELLS = /^(\/(usr\/)?bin\/)?((ba|da|fi|k|z)?sh|su)$/;
/** What prints its words. */
const PRINTERS: ReadonlySet<string> = new Set(['echo', 'printf']);

/** The commands of a command line, in their order. */
export function shellCommands(command: string): (SimpleCommand | Joint)[] {
  const parts: (SimpleCommand | Joint)[] = [];
  let words: ShellWord[] = [];
  let redirects: ShellWord[] = [];
  let strings: ShellWord[] = [];
  let documents: string[] = [];
  let target = words;
  const end = (): void => {
    if (words.length + redirects.length + strings.length + documents.length > 0) {
      parts.push(commandOf(words, { redirects, strings, documents }));
    }
    words = [];
    redirects = [];
    strings = [];
    documents = [];
    target = words;
  };
  for (const token of shellTokens(command)) {
    if (token.kind === 'word') {
      target.push(token);
      target = words;
    } else if (token.kind === 'here') documents.push(token.body);
    else if (token.text === '<' || token.text === '>') target = redirects;
    else if (token.text === '<<<') target = strings;
    else {
      end();
      parts.push({ kind: 'joint', text: token.text });
    }
  }
  end();
  return parts;
}

/**
 * The scripts that a command gives a shell: `sh -c '…'`, or what the shell reads.
 * @param piped what the command before it prints
 */
export function scriptsOf(command: SimpleCommand, piped: readonly string[]): string[] {
  const words = [command.name, ...command.args.map(({ text }) => text)];
  const scripts = words.flatMap((word, at) => {
    if (!SHELLS.test(word)) return [];
    const option = words.findIndex((one, i) => i > at && /^-[a-z]*c$/.test(one));
    const script = option < 0 ? undefined : words[option + 1];
    return script === undefined ? [] : [script];
  });
  const last = words.findLast((word) => !word.startsWith('-')) ?? '';
  return SHELLS.test(last) ? [...scripts, ...inputOf(command), ...piped] : scripts;
}

/** What a command gives the next one of a pipe, as far as the text says. */
export function printedBy(command: SimpleCommand): string[] {
  if (command.name === 'cat') return inputOf(command);
  return PRINTERS.has(command.name) ? [command.args.map(({ text }) => text).join(' ')] : [];
}

function inputOf({ strings, documents }: SimpleCommand): string[] {
  return [...strings.map(({ text }) => text), ...documents];
}

function commandOf(
  words: readonly ShellWord[],
  given: Pick<SimpleCommand, 'redirects' | 'strings' | 'documents'>,
): SimpleCommand {
  let first = 0;
  const assigned: ShellWord[] = [];
  for (; first < words.length; first++) {
    const word = words[first];
    if (word === undefined) break;
    if (/^[A-Za-z_]\w*=/.test(word.text)) assigned.push(word);
    else if (!BEFORE.has(word.text)) break;
  }
  const program = words[first];
  return {
    kind: 'command',
    name: program?.text ?? '',
    program,
    args: words.slice(first + 1),
    assigned,
    ...given,
  };
}
