import * as fs from 'node:fs';
import * as path from 'node:path';
import * as z from 'zod';
import type { Home, Life } from './life';
import { readNotes } from './notes';

const config = z.object({
  members: z.array(z.object({ name: z.string(), status: z.string(), incarnation: z.number() })),
});
const logLine = z.looseObject({
  event: z.string(),
  id: z.string().optional(),
  request_id: z.string().optional(),
  change: z.string().optional(),
});
const inboxLine = z.looseObject({ id: z.string() });

/**
 * Whether `.team/` shows the team as it is, for a team that lived without a crash and is at rest.
 * @returns what is wrong
 */
export function checkMirrorIsWhole(home: Home, { core }: Life): string[] {
  const dir = path.join(home.root, '.team');
  const read = (...parts: string[]): string => fs.readFileSync(path.join(dir, ...parts), 'utf8');
  const linesOf = (text: string): unknown[] =>
    text.split('\n').flatMap((line): unknown[] => (line === '' ? [] : [JSON.parse(line)]));
  const wrong: string[] = [];
  const compare = (what: string, found: readonly string[], wanted: readonly string[]): void => {
    if (found.join() !== wanted.join())
      wrong.push(`${what} has ${found.join()} in place of ${wanted.join()}`);
  };
  compare(
    'config.json',
    config
      .parse(JSON.parse(read('config.json')))
      .members.map((m) => `${m.name} ${m.incarnation} ${m.status}`),
    core.members().map((m) => `${m.name} ${m.incarnation} ${m.status}`),
  );
  for (const name of ['lead', ...core.members().map((member) => member.name)]) {
    compare(
      `the inbox of ${name}`,
      linesOf(read('inbox', `${name}.jsonl`)).map((line) => inboxLine.parse(line).id),
      core.unread(name).map((message) => message.id),
    );
  }
  const log = linesOf(read('log.jsonl')).map((line) => logLine.parse(line));
  const notes = readNotes(home.notes);
  compare(
    'the log of messages',
    log.flatMap(({ event, id }) => (event === 'message' && id !== undefined ? [id] : [])),
    notes.flatMap((note) => (note.t === 'sent' ? [note.id] : [])),
  );
  compare(
    'the log of requests',
    log.flatMap(({ event, request_id, change }) => (event === 'request' ? [`${request_id} ${change}`] : [])),
    notes.flatMap((note) => {
      if (note.t === 'opened') return [`${note.id} opened`];
      return note.t === 'ended' ? [`${note.id} ${note.status}`] : [];
    }),
  );
  return [...wrong, ...leftBehind(home)];
}

/** What only a crash leaves, until the next window clears it away. */
const LEFT_OVER = /\.tmp$|\.taken-|\.damaged\./;

/** @returns what should be gone from a team at rest */
export function leftBehind(home: Home): string[] {
  const dir = path.join(home.root, '.team');
  return [dir, path.join(dir, 'inbox')]
    .flatMap((folder) => fs.readdirSync(folder))
    .filter((name) => LEFT_OVER.test(name))
    .map((name) => `${name} was left behind`);
}
