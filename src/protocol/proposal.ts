import * as z from 'zod';
import { parseMemberName } from './names';

/**
 * A team that the lead proposes: teammates, tasks for the board, and who begins with which. What the human accepts
 * of it is a text of its own, in which everything names what it was `of` the proposal.
 */

/** A task's name within its proposal; the board gives another one. */
const key = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/, 'not a key for a task, such as t1');

export const proposedMember = z.object({
  /** As the roster will have it. */
  name: z.string().refine(isCanonicalName, 'not a name for a teammate'),
  role: z.string(),
  prompt: z.string(),
  require_plan: z.boolean().optional(),
  model: z.string().optional(),
  /** The key of the task that it begins with. */
  task: key.optional(),
});
export type ProposedMember = z.infer<typeof proposedMember>;

export const proposedTask = z.object({
  key,
  subject: z.string().min(1),
  description: z.string(),
  /** Higher first; 0 where it is not said. */
  priority: z.number().int().min(-1000).max(1000).optional(),
  /** Keys of the tasks that have to be completed first. */
  blocked_by: z.array(key).optional(),
  /** It is done in a git worktree of its own. */
  isolated: z.boolean().optional(),
});
export type ProposedTask = z.infer<typeof proposedTask>;

export const proposalPayload = z
  .object({
    members: z.array(proposedMember).min(1),
    tasks: z.array(proposedTask).optional(),
    /** How many model calls the lead expects to run at once. */
    calls_at_once: z.number().int().positive().optional(),
  })
  .superRefine(({ members, tasks = [] }, context) => {
    const accepted = { members: members.map(asAcceptedMember), tasks: tasks.map(asAcceptedTask) };
    for (const { path, code } of hangTogether(accepted)) {
      context.addIssue({ code: 'custom', path: [...path], message: PROBLEMS[code] });
    }
  });
export type ProposalPayload = z.infer<typeof proposalPayload>;

const LONGEST_TEXT = 200_000;
const MOST_MEMBERS = 50;
const MOST_TASKS = 200;

/** Nothing but these fields can come from a page. */
export const acceptedMember = z.strictObject({
  /** The name in the proposal. */
  of: z.string().max(32),
  name: z.string().max(200),
  role: z.string().max(LONGEST_TEXT),
  prompt: z.string().max(LONGEST_TEXT),
  require_plan: z.boolean(),
  model: z.string().max(LONGEST_TEXT).optional(),
  /** The proposal's key of the task that it begins with. */
  task: key.optional(),
});
export type AcceptedMember = z.infer<typeof acceptedMember>;

export const acceptedTask = z.strictObject({
  /** The key in the proposal. */
  of: key,
  subject: z.string().max(LONGEST_TEXT),
  description: z.string().max(LONGEST_TEXT),
  priority: z.number().int().min(-1000).max(1000),
  /** The proposal's keys. */
  blocked_by: z.array(key).max(MOST_TASKS),
  /** Left out where it is not. */
  isolated: z.boolean().optional(),
});
export type AcceptedTask = z.infer<typeof acceptedTask>;

/** The part of a proposal that the human accepts, as edited. */
export const acceptedProposal = z.strictObject({
  members: z.array(acceptedMember).max(MOST_MEMBERS),
  tasks: z.array(acceptedTask).max(MOST_TASKS),
});
export type AcceptedProposal = z.infer<typeof acceptedProposal>;

const PROBLEMS = {
  nothing: 'nothing of the proposal is accepted',
  not_proposed: 'it was not proposed',
  of_twice: 'it stands there twice',
  name: 'not a name for a teammate: a letter, then up to 31 letters, digits, - or _; and no reserved word',
  name_twice: 'a name stands twice',
  role: 'a role is needed, such as coder',
  prompt: 'a text is needed that says what to do',
  subject: 'a subject is needed',
  key_twice: 'a key stands twice',
  unknown_task: 'there is no such task in the proposal',
  circle: 'tasks wait for each other in a circle',
  task_twice: 'two teammates would begin with one task',
  task_waits: 'a teammate cannot begin with a task that waits for another',
} as const;

export type ProposalProblemCode = keyof typeof PROBLEMS;

export interface ProposalProblem {
  /** Such as `['members', 0, 'name']`. */
  readonly path: readonly (string | number)[];
  readonly code: ProposalProblemCode;
}

/** The whole proposal, as it stands. */
export function acceptAll({ members, tasks = [] }: ProposalPayload): AcceptedProposal {
  return { members: members.map(asAcceptedMember), tasks: tasks.map(asAcceptedTask) };
}

/** What is accepted of a proposal that is approved: the part that the human made of it, or all. */
export function acceptedOf({
  payload,
  accepted,
}: {
  payload: unknown;
  accepted?: unknown;
}): AcceptedProposal {
  return accepted === undefined
    ? acceptAll(proposalPayload.parse(payload))
    : acceptedProposal.parse(accepted);
}

/** What keeps an edited proposal from being accepted; empty where nothing does. */
export function problemsOf(proposal: ProposalPayload, accepted: AcceptedProposal): ProposalProblem[] {
  const problems: ProposalProblem[] = [];
  const add = (code: ProposalProblemCode, ...path: (string | number)[]) => problems.push({ path, code });
  if (accepted.members.length + accepted.tasks.length === 0) add('nothing');
  const names = new Set(proposal.members.map(({ name }) => name));
  accepted.members.forEach((member, index) => {
    if (!names.delete(member.of)) {
      add(
        proposal.members.some(({ name }) => name === member.of) ? 'of_twice' : 'not_proposed',
        'members',
        index,
        'of',
      );
    }
    if (!isCanonicalName(member.name)) add('name', 'members', index, 'name');
    if (member.role.trim() === '') add('role', 'members', index, 'role');
    if (member.prompt.trim() === '') add('prompt', 'members', index, 'prompt');
  });
  const keys = new Set((proposal.tasks ?? []).map((task) => task.key));
  accepted.tasks.forEach((task, index) => {
    if (!keys.has(task.of)) add('not_proposed', 'tasks', index, 'of');
    if (task.subject.trim() === '') add('subject', 'tasks', index, 'subject');
  });
  return [...problems, ...hangTogether(accepted)];
}

/**
 * Reads what a page or a program sends as the part that is accepted.
 * @returns undefined where it is the proposal as it stands
 * @throws {Error} that names the first thing that is wrong
 */
export function readAccepted(payload: unknown, raw: unknown): AcceptedProposal | undefined {
  const proposal = proposalPayload.parse(payload);
  const read = acceptedProposal.safeParse(raw);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new Error(`${issue?.path.join('.') || 'proposal'}: ${issue?.message ?? 'invalid'}`);
  }
  const accepted = tidied(read.data);
  const [problem] = problemsOf(proposal, accepted);
  if (problem !== undefined) throw new Error(problemText(problem));
  return JSON.stringify(accepted) === JSON.stringify(tidied(acceptAll(proposal))) ? undefined : accepted;
}

export function problemText({ path, code }: ProposalProblem): string {
  return path.length === 0 ? PROBLEMS[code] : `${path.join('.')}: ${PROBLEMS[code]}`;
}

/** Whether the parts fit each other, whoever proposes or accepts them. */
function hangTogether({ members, tasks }: AcceptedProposal): ProposalProblem[] {
  const problems: ProposalProblem[] = [];
  const add = (code: ProposalProblemCode, ...path: (string | number)[]) => problems.push({ path, code });
  const names = new Set<string>();
  const begun = new Set<string>();
  const byKey = new Map(tasks.map((task) => [task.of, task]));
  members.forEach(({ name, task }, index) => {
    if (names.has(name)) add('name_twice', 'members', index, 'name');
    names.add(name);
    if (task === undefined) return;
    const first = byKey.get(task);
    if (first === undefined) add('unknown_task', 'members', index, 'task');
    else if (first.blocked_by.length > 0) add('task_waits', 'members', index, 'task');
    if (begun.has(task)) add('task_twice', 'members', index, 'task');
    begun.add(task);
  });
  const keys = new Set<string>();
  tasks.forEach(({ of, blocked_by }, index) => {
    if (keys.has(of)) add('key_twice', 'tasks', index, 'of');
    keys.add(of);
    if (blocked_by.some((other) => !byKey.has(other))) add('unknown_task', 'tasks', index, 'blocked_by');
    else if (waitsForItself(of, byKey)) add('circle', 'tasks', index, 'blocked_by');
  });
  return problems;
}

function waitsForItself(start: string, byKey: ReadonlyMap<string, AcceptedTask>): boolean {
  const seen = new Set<string>();
  const open = [...(byKey.get(start)?.blocked_by ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === start) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...(byKey.get(next)?.blocked_by ?? []));
  }
  return false;
}

function isCanonicalName(name: string): boolean {
  const checked = parseMemberName(name);
  return checked.ok && checked.name === name;
}

function asAcceptedMember(member: ProposedMember): AcceptedMember {
  const { name, role, prompt, require_plan = false, model, task } = member;
  return {
    of: name,
    name,
    role,
    prompt,
    require_plan,
    ...(model === undefined ? {} : { model }),
    ...(task === undefined ? {} : { task }),
  };
}

function asAcceptedTask(task: ProposedTask): AcceptedTask {
  const { key: of, subject, description, priority = 0, blocked_by = [], isolated } = task;
  return {
    of,
    subject,
    description,
    priority,
    blocked_by: [...new Set(blocked_by)],
    ...(isolated ? { isolated } : {}),
  };
}

/** In one form, whatever the page's order of fields and blanks. */
function tidied({ members, tasks }: AcceptedProposal): AcceptedProposal {
  return {
    members: members.map(({ of, name, role, prompt, require_plan, model, task }) => ({
      of,
      name: name.trim().toLowerCase(),
      role: role.trim(),
      prompt: prompt.trim(),
      require_plan,
      ...(model === undefined || model.trim() === '' ? {} : { model: model.trim() }),
      ...(task === undefined ? {} : { task }),
    })),
    tasks: tasks.map(({ of, subject, description, priority, blocked_by, isolated }) => ({
      of,
      subject: subject.trim(),
      description: description.trim(),
      priority,
      blocked_by: [...new Set(blocked_by)],
      ...(isolated ? { isolated } : {}),
    })),
  };
}
