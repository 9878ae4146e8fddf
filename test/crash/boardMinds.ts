import type { Wish } from './brain';
import type { Heard } from './heard';

/** The tasks of the scenario: what the lead makes, each waiting for the one before. */
export const CHAIN = ['Base', 'Next', 'Last'] as const;
/** What the human puts on the board. */
export const BY_HAND = 'By hand';

const OVER = /already completed|not yours|There is no task/;

/** The lead's part: it makes a chain of tasks, and gives the first one to erin. */
export function chainOfTasks(heard: Heard): (() => Wish[])[] {
  const idOf = (subject: string): string | undefined =>
    heard.calls
      .filter(({ name, input, failed }) => name === 'create_task' && input.subject === subject && !failed)
      .map(({ result }) => /^Created (t\d+):/.exec(result ?? '')?.[1])
      .find((id) => id !== undefined);
  const create = CHAIN.map((subject, index) => (): Wish[] => {
    const before = CHAIN[index - 1];
    const blocked_by = before === undefined ? [] : [idOf(before) ?? ''];
    return [{ name: 'create_task', input: { subject, description: `Do it: ${subject}.`, blocked_by } }];
  });
  const give = (): Wish[] => [
    {
      name: 'update_task',
      input: { task_id: idOf(CHAIN[0]) ?? '', owner: 'erin' },
      doneBy: /already|under way/,
      matches: ({ name }) => name === 'update_task',
    },
  ];
  return [...create, give];
}

/** What a member does with the tasks that it was given: it completes each. */
export function ownTasks(heard: Heard): Wish[] {
  const given = heard.mail.flatMap(({ content }) => {
    const id = /^(?:You have taken|\w+ has given you) task (t\d+) from the board\./.exec(content)?.[1];
    return id === undefined ? [] : [id];
  });
  // A task may come back to somebody who had it before.
  return [...new Set(given)].map((task_id) => {
    const times = given.filter((id) => id === task_id).length;
    return {
      name: 'complete_task',
      input: { task_id, result: `Done: ${task_id}, time ${times}.` },
      doneBy: OVER,
    };
  });
}
