import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Place, walk } from './commandFolders';
import type { SimpleCommand } from './shellCommands';
import type { ShellWord } from './shellWords';

/** Programs whose first argument is a pattern, or a script of patterns. */
const SEARCHERS = /^(.*\/)?([efz]?grep|rg|ag|ack|sed)$/;
/** Programs that run one of those. */
const RUNNERS: ReadonlySet<string> = new Set(['env', 'find', 'git', 'nohup', 'sudo', 'timeout', 'xargs']);
/** The pattern follows, or is in the word. */
const PATTERN = /^(-[A-Za-z]*e|--regexp|--expression)$/;
const WITH_PATTERN = /^(-e|--(regexp|expression)=)./;
/** Then there is no pattern among the arguments. */
const WITHOUT_PATTERN = /^(-[A-Za-z]*f|--files?(=.*)?)$/;
/** What follows is a number, a kind of file or a glob. */
const VALUED = /^(-[A-Za-z]*[ABCDGTdgjmt]|--(i?glob|type|type-not|include|exclude|exclude-dir))$/;
const MESSAGE = /^(-[a-z]*m|--message|--grep|-[SG])$/;

/** The words that are no paths, whatever they look like: patterns, and the messages of commits. */
export function textsOf({ name, args }: SimpleCommand): ReadonlySet<ShellWord> {
  const texts = new Set<ShellWord>();
  const behind = (option: RegExp, words: readonly ShellWord[]): ShellWord[] =>
    words.filter((_word, at) => option.test(words[at - 1]?.text ?? ''));
  if (name === 'git') for (const word of behind(MESSAGE, args)) texts.add(word);
  const runs = RUNNERS.has(name) ? args.findIndex(({ text }) => SEARCHERS.test(text)) : -1;
  if (!SEARCHERS.test(name) && runs < 0) return texts;
  const words = args.slice(runs + 1);
  const patterns = [...behind(PATTERN, words), ...words.filter(({ text }) => WITH_PATTERN.test(text))];
  for (const word of [...patterns, ...behind(VALUED, words)]) texts.add(word);
  if (patterns.length > 0 || words.some(({ text }) => WITHOUT_PATTERN.test(text))) return texts;
  // The empty one is the suffix of `sed -i ''`.
  const first = words.find((word) => !texts.has(word) && word.text !== '' && !word.text.startsWith('-'));
  return first === undefined ? texts : texts.add(first);
}

/** Whether the words of a command are more often text than paths. */
export function isLenient({ name }: SimpleCommand): boolean {
  return name === 'echo' || name === 'printf';
}

/** The targets of the links that a command makes: they are relative to the folder of the link. */
export function linksFrom(
  { name, args }: SimpleCommand,
  places: readonly Place[],
  expanded: (word: ShellWord) => string,
): { readonly targets: ReadonlySet<ShellWord>; readonly places: readonly Place[] } | undefined {
  const options = args.filter(({ text }) => text.startsWith('-')).map(({ text }) => text);
  if (name !== 'ln' || !options.some((text) => /^(-[A-Za-z]*s[A-Za-z]*|--symbolic)$/.test(text)))
    return undefined;
  const words = args.filter(({ text }) => !text.startsWith('-'));
  const link = words.at(-1);
  if (link === undefined || words.length < 2) return undefined;
  const path = expanded(link);
  const isItself = options.some((text) => /^(-[A-Za-z]*n[A-Za-z]*|--no-dereference)$/.test(text));
  return {
    targets: new Set(words.slice(0, -1)),
    places: places.flatMap((place) => {
      const led = walk(place, path);
      const isFolder = path.endsWith('/') || (!isItself && led !== undefined && isDirectory(led.folder));
      return (isFolder ? led : walk(place, dirname(path))) ?? [];
    }),
  };
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
