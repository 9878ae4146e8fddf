import * as fs from 'node:fs';
import * as path from 'node:path';
import * as z from 'zod';
import { readTranscripts } from './check';
import type { Home, Life } from './life';

const SPOKEN = new Set([
  'message',
  'broadcast',
  'shutdown_request',
  'shutdown_response',
  'plan_approval_response',
]);
/** What a request is about, by its kind. */
const about = z.looseObject({
  subject: z.string().optional(),
  plan: z.string().optional(),
  reason: z.string().optional(),
  members: z.array(z.unknown()).optional(),
});
const KEPT = /^\(Not delivered: (.*) has left the team\. It is kept for you\.\)\n(.*)$/;
/** Who takes a task goes by chance. */
const ABOUT_TASKS =
  /^(\(Not delivered.*\)\n)?((You have taken|(The )?\w+ has (given you|given to \w+:|taken back)) task|While you could not go on,) t\d+/;
/** Reaches whoever is there at that moment, and dave hears more or less before he is stopped. */
const BY_CHANCE = /^(\(Not delivered.*\)\n)?(Welcome|All hands)\.$|^\(Not delivered: dave/;

/**
 * What the scenario has come to, without what may differ from run to run: ids, times, order, what was withdrawn.
 */
export async function outcomeOf(home: Home, life: Life): Promise<string[]> {
  const { core } = life;
  const members = core
    .members()
    .map(({ name, incarnation, status }) => `member ${name} ${incarnation} ${status}`);
  const requests = core
    .requests()
    .filter(({ status }) => status !== 'cancelled')
    .map(({ kind, from, to, status, decidedBy, payload }) => {
      const { subject, plan, reason, members: proposed } = about.parse(payload);
      const what = subject ?? plan ?? reason ?? JSON.stringify(proposed);
      return `request ${kind} ${from} ${to} ${status} by ${decidedBy ?? ''}: ${what}`;
    });
  const tasks = core
    .tasks()
    .map(({ subject, status, blockedBy }) => `task ${subject} ${status} after ${blockedBy.length}`);
  const files = fs
    .readdirSync(home.root)
    .filter((name) => name.endsWith('.txt'))
    .map(
      (name) =>
        `file ${name}: ${fs.readFileSync(path.join(home.root, name), 'utf8').replace(/^by .*$/m, '')}`,
    );
  const mail = (await readTranscripts(home)).flatMap(({ owner, told }) =>
    told
      .filter(({ type, content, to }) => to !== 'dave' && SPOKEN.has(type) && !BY_CHANCE.test(content))
      .filter(({ content }) => !ABOUT_TASKS.test(content))
      .map(({ type, from, content }) => {
        // What its recipient did not live to read was read all the same, by the lead.
        const [, name, rest] = KEPT.exec(content) ?? [];
        return `mail ${type} ${from} to ${name === undefined ? owner : `${name}-1`}: ${rest ?? content}`;
      }),
  );
  // A permission is asked for again when its call could not begin after all.
  const asked = requests.filter(
    (line, index) => !/tool_permission/.test(line) || requests.indexOf(line) === index,
  );
  return numbered([...members, ...asked, ...tasks, ...files, ...mail].sort());
}

/** Marks what is there more than once, so that a comparison of lists finds it. */
function numbered(lines: readonly string[]): string[] {
  return lines.map((line, index) => {
    const again = index - lines.indexOf(line);
    return again === 0 ? line : `${line} (again: ${again})`;
  });
}
