import { compareTasks, type Task } from '../team/task';

/** What has to be written so that a task stands where the human put it. */
export interface Placement {
  id: string;
  priority: number;
  order: number;
}

/**
 * One place up or down among the tasks of its group. A task that passes one of another priority takes that
 * priority: else it would not stand there.
 * @param group the tasks of the group, in any order
 * @returns nothing where it already stands at that end, or is not of the group
 */
export function moveByOne(group: readonly Task[], id: string, direction: 'up' | 'down'): Placement[] {
  const ranked = [...group].sort(compareTasks);
  const from = ranked.findIndex((task) => task.id === id);
  const neighbour = from < 0 ? undefined : ranked[direction === 'up' ? from - 1 : from + 1];
  if (neighbour === undefined) return [];
  return place(group, [id], neighbour.id, direction === 'up' ? 'before' : 'after');
}

/**
 * Puts tasks beside another one, in the order they had; they take its priority.
 * @param group the tasks that the other stands among
 * @returns only what changes; several where the numbers leave no place between two
 */
export function place(
  group: readonly Task[],
  ids: readonly string[],
  besideId: string,
  side: 'before' | 'after',
): Placement[] {
  const beside = group.find(({ id }) => id === besideId);
  if (beside === undefined || ids.includes(besideId)) return [];
  const moving = group.filter(({ id }) => ids.includes(id)).sort(compareTasks);
  const peers = group
    .filter(({ id, priority }) => priority === beside.priority && !ids.includes(id))
    .sort(compareTasks);
  const at = peers.findIndex(({ id }) => id === besideId) + (side === 'after' ? 1 : 0);
  const orders = between(peers[at - 1]?.order, peers[at]?.order, moving.length);
  if (orders !== undefined) {
    return moving.map(({ id }, index) => ({ id, priority: beside.priority, order: orders[index] ?? 0 }));
  }
  return [...peers.slice(0, at), ...moving, ...peers.slice(at)]
    .map((task, order) => ({ task, placed: { id: task.id, priority: beside.priority, order } }))
    .filter(({ task, placed }) => task.order !== placed.order || task.priority !== placed.priority)
    .map(({ placed }) => placed);
}

/** So many numbers that lie between two, or undefined where there is no room. */
function between(low: number | undefined, high: number | undefined, count: number): number[] | undefined {
  const numbers = (first: number, step: number): number[] =>
    Array.from({ length: count }, (_, index) => first + step * index);
  if (low === undefined) return numbers((high ?? count) - count, 1);
  if (high === undefined) return numbers(low + 1, 1);
  const step = (high - low) / (count + 1);
  const found = numbers(low + step, step);
  const all = [low, ...found, high];
  return all.every((value, index) => index === 0 || value > (all[index - 1] ?? value)) ? found : undefined;
}
