import type { ApprovalPolicy } from '../protocol';

/** `handshake.permissions.mode`: what a member may do without asking. */
export type PermissionMode = 'ask' | 'acceptEdits' | 'plan' | 'allow';

/** `handshake.approvals.*`. */
export interface Approvals extends ApprovalPolicy {
  /** With `auto` the teammates of a proposal start without asking. */
  team: 'human' | 'auto';
}

/** `handshake.review.*`. */
export interface ReviewSettings {
  /** How accepted work arrives: as a commit, or as changes that are not committed. */
  merge: 'commit' | 'uncommitted';
  /** Run in the workspace folder after each merge; empty for none. */
  checkCommand: string;
}

/** The settings the core reads, fresh at each use. */
export interface CoreSettings {
  approvals: Approvals;
  permissionMode: PermissionMode;
  /** Model calls in one turn of a member. */
  maxTurns: number;
  /** Milliseconds until a pending request is overdue. */
  requestDeadlineMs: number;
  /** `handshake.resume`: whether members that were at work go on by themselves after a restart. */
  resume: 'ask' | 'always';
  /** `handshake.tokenBudget` and `.memberTokenBudget`: tokens in all; 0 or left out is without an end. */
  tokenBudget?: { team: number; member: number };
  /** A commit and no check, where it is left out. */
  review?: ReviewSettings;
}
