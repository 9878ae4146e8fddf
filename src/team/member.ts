import type { GrantedRole, WorkRef } from '../protocol';
import type { Changes } from './records';

/** A teammate's state as `.team/config.json` shows it. */
export const MEMBER_STATUSES = ['working', 'idle', 'waiting', 'stopping', 'shutdown', 'failed'] as const;
export type MemberStatus = (typeof MEMBER_STATUSES)[number];

export interface Member {
  readonly name: string;
  readonly role: string;
  /** 1 for the first start of this name, then counting. */
  readonly incarnation: number;
  readonly prompt: string;
  readonly model?: string;
  /** What it got from a role file when it was started. */
  readonly roleFile?: GrantedRole;
  readonly spawnedBy: string;
  readonly spawnedAt: number;
  /** Every task of this member needs an approved plan. */
  readonly requirePlan: boolean;
  readonly status: MemberStatus;
  /** Why it failed or stopped, in words for the user. */
  readonly statusReason?: string;
  readonly taskId: string;
  readonly workVersion: number;
  /** The present task needs an approved plan. */
  readonly planRequired: boolean;
  /** Its task has ended, and nothing else was given to it yet. */
  readonly betweenTasks?: boolean;
  /** The task that it had when it failed. */
  readonly lostTask?: string;
}

/** As it is when it has just been started. */
export function newMember(record: Changes<'member'>): Member {
  const { name, role, incarnation, prompt, model, spawned_by, require_plan, role_file, at } = record;
  return {
    name,
    role,
    incarnation,
    prompt,
    spawnedBy: spawned_by,
    spawnedAt: at,
    requirePlan: require_plan,
    status: 'idle',
    taskId: `${name}-${incarnation}.1`,
    workVersion: 1,
    planRequired: require_plan,
    ...(model === undefined ? {} : { model }),
    ...(role_file === undefined ? {} : { roleFile: role_file }),
  };
}

export function isGone(member: Member): boolean {
  return member.status === 'shutdown';
}

/** As it outlives a window: what only a running loop says of it does not. */
export function durableMember(member: Member): Member & { status: 'idle' | 'shutdown' | 'failed' } {
  const { status } = member;
  return { ...member, status: status === 'shutdown' || status === 'failed' ? status : 'idle' };
}

export function workOf(member: Member): WorkRef {
  const { name, incarnation, taskId, workVersion } = member;
  return { member: name, incarnation, taskId, workVersion };
}

/**
 * What changes of a member whose work is another from now on.
 * @param task what it is about, or undefined when it has no task any more
 * @param owesPlan whether a plan is asked for and not approved: it stays asked for
 */
export function movedOn(member: Member, task: string | undefined, owesPlan: boolean): Partial<Member> {
  const workVersion = member.workVersion + 1;
  const change: Partial<Member> = {
    workVersion,
    taskId: task ?? `${member.name}-${member.incarnation}.${workVersion}`,
    planRequired: member.requirePlan || (member.planRequired && owesPlan),
    betweenTasks: task === undefined ? true : undefined,
  };
  if (task === undefined) return change;
  // As any new assignment, it leaves a failure behind.
  const recovered = member.status === 'failed' ? ({ status: 'idle', statusReason: undefined } as const) : {};
  return { ...change, lostTask: undefined, ...recovered };
}

/** The lead's permissions are bound to this; the lead has one incarnation and no tasks. */
export const LEAD_WORK: WorkRef = { member: 'lead', incarnation: 0, taskId: null, workVersion: 0 };
