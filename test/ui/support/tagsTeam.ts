import { type Brain, type MessagesBody, type ReplyBlock, text, toolUse } from '../../model-server';
import { newsOf } from './lines';
import { PROJECT_TASKS, type ProjectTask } from './tagsProject';

export const MEMBERS = ['ann', 'ben', 'cleo', 'dan', 'eve'] as const;

/** A team that builds the tags, and who has done what so far, by the tasks' keys. */
export interface TagsTeam {
  brain: Brain;
  owners: ReadonlyMap<string, string>;
}

/**
 * The lead puts the tasks on the board, those without open dependencies first, and starts five teammates; each
 * does what the board gives it. Each decides by its conversation alone. A task that is given before those it comes
 * after are done, or given twice, is a problem of the model server.
 * @param goOn nothing is written before it settles
 */
export function tagsTeam(goOn: Promise<void>): TagsTeam {
  const owners = new Map<string, string>();
  const done = new Set<string>();
  const brain: Brain = async ({ member, body }) => {
    if (member === 'lead') return lead(body);
    const given = taskIn(newsOf(body));
    if (given !== undefined) {
      const { key, after } = given.task;
      const early = after.filter((each) => !done.has(each));
      if (early.length > 0) throw new Error(`${member} was given ${key} before ${early.join(', ')}`);
      if (owners.has(key)) throw new Error(`${key} was given to ${owners.get(key)} and to ${member}`);
      owners.set(key, member);
      await goOn;
    }
    const reply = teammate(body);
    const closes = reply.some((block) => block.type === 'tool_use' && block.name === 'complete_task');
    const closed = closes ? taskIn(textsOf(body)) : undefined;
    if (closed !== undefined) done.add(closed.task.key);
    return reply;
  };
  return { brain, owners };
}

function lead(body: MessagesBody): ReplyBlock[] {
  const said = textsOf(body);
  if (!said.includes('Build the tags.')) return [text('Noted.')];
  const ids = idsOf(said);
  const open = PROJECT_TASKS.filter(
    ({ key, after }) => !ids.has(key) && after.every((each) => ids.has(each)),
  );
  if (open.length > 0) {
    return open.map(({ subject, after }) =>
      toolUse('create_task', {
        subject,
        description: 'See test/tags.test.js.',
        blocked_by: after.flatMap((key) => ids.get(key) ?? []),
      }),
    );
  }
  if (!said.includes("Spawned 'ann'")) {
    return MEMBERS.map((name) =>
      toolUse('spawn_teammate', { name, role: 'coder', prompt: 'Take tasks from the board.' }),
    );
  }
  return [text('Noted.')];
}

/** The ids that the board gave the tasks, by key. */
function idsOf(said: string): Map<string, string> {
  const ids = new Map<string, string>();
  for (const { key, subject } of PROJECT_TASKS) {
    const [, id] = new RegExp(`Created (t\\d+): ${subject.replaceAll('.', '\\.')}`).exec(said) ?? [];
    if (id !== undefined) ids.set(key, id);
  }
  return ids;
}

function teammate(body: MessagesBody): ReplyBlock[] {
  const news = newsOf(body);
  const given = taskIn(news);
  if (given !== undefined) {
    const { task, id } = given;
    return task.file === undefined
      ? [toolUse('bash', { command: 'npm test', description: 'The tests of the whole project' })]
      : [toolUse('write_file', task.file), complete(id, `Wrote ${task.file.path}.`)];
  }
  // Only the run of the tests is looked at before the task is closed.
  const ran = /\bpass (\d+)[\s\S]*\bfail (\d+)/.exec(news);
  const last = taskIn(textsOf(body));
  if (ran !== null && last !== undefined) return [complete(last.id, `${ran[1]} tests pass, ${ran[2]} fail.`)];
  return [text('Done.')];
}

const complete = (task_id: string, result: string): ReplyBlock =>
  toolUse('complete_task', { task_id, result });

/** The newest task that the board gave, by its words. */
function taskIn(words: string): { task: ProjectTask; id: string } | undefined {
  const [, id, subject] =
    [...words.matchAll(/You have taken task t\d+ from the board\.\s+(t\d+): (.+)/g)].at(-1) ?? [];
  const task = PROJECT_TASKS.find((each) => each.subject === subject?.trim());
  return task === undefined || id === undefined ? undefined : { task, id };
}

function textsOf(body: MessagesBody): string {
  return body.messages
    .flatMap(({ content }) => content.map((block) => String(block.text ?? block.content ?? '')))
    .join('\n');
}
