import * as z from 'zod';
import type { MessageType } from './messages';
import { proposalPayload, readAccepted } from './proposal';
import type { PartyRole, RequestKind } from './request';

/**
 * The one table of kinds. A new kind of handshake is one entry here (who asks, who answers, the shape of
 * its payload, what it is bound to) and one effect in the team; the machine itself does not change.
 */

export const shutdownPayload = z.object({ reason: z.string().optional() });

export const planPayload = z.object({
  plan: z.string().min(1),
  files: z.array(z.string()).optional(),
  commands: z.array(z.string()).optional(),
});

export const permissionPayload = z.object({
  tool: z.string(),
  /** The id the model gave the call, from which a cut call's true result can be rebuilt. */
  toolUseId: z.string(),
  /** What is asked for in one line, such as the command or the path; never cut. */
  subject: z.string(),
  access: z.enum(['command', 'edit']),
  /** Where it would run, from the workspace folder, such as a task's worktree; left out for that folder itself. */
  folder: z.string().optional(),
  /** A unified diff for an edit. */
  preview: z.string().optional(),
  /** The model's own words on why; shown as text, never interpreted. */
  description: z.string().optional(),
});

export type ShutdownPayload = z.infer<typeof shutdownPayload>;
export type PlanPayload = z.infer<typeof planPayload>;
export type PermissionPayload = z.infer<typeof permissionPayload>;

/** Who besides the human may decide; from the `handshake.approvals.*` settings. */
export interface ApprovalPolicy {
  plan: 'human' | 'either';
  permission: 'human' | 'either';
}

export interface KindRule {
  payload: z.ZodType;
  askedBy: readonly PartyRole[];
  answeredBy: PartyRole;
  /** True where the lead may decide although it is not the addressee (never its own request). */
  leadStandsIn: boolean;
  /** The type of message that asks, and the one type of answer that fits. */
  requestType: MessageType;
  responseType: ResponseType;
  /** What has to be unchanged for the answer to count: the member's start, or also its task and work version. */
  boundTo: 'incarnation' | 'work';
  /** Who the policy lets decide, besides the human, who always may. */
  allows(role: PartyRole, policy: ApprovalPolicy): boolean;
  /**
   * Reads what the human approves in place of what was asked for, where a kind has that.
   * @returns undefined where it is what was asked for
   * @throws {Error} with what is wrong
   */
  readAccepted?(payload: unknown, accepted: unknown): unknown;
  /** The request in a few words for lists and notices. */
  label: string;
}

export type ResponseType =
  | 'shutdown_response'
  | 'plan_approval_response'
  | 'permission_response'
  | 'proposal_response';

export const KINDS: Readonly<Record<RequestKind, KindRule>> = {
  shutdown: {
    payload: shutdownPayload,
    askedBy: ['lead', 'human'],
    answeredBy: 'teammate',
    leadStandsIn: false,
    requestType: 'shutdown_request',
    responseType: 'shutdown_response',
    boundTo: 'incarnation',
    allows: (role) => role === 'teammate',
    label: 'Shutdown',
  },
  plan_approval: {
    payload: planPayload,
    askedBy: ['teammate'],
    answeredBy: 'lead',
    leadStandsIn: false,
    requestType: 'plan_approval_request',
    responseType: 'plan_approval_response',
    boundTo: 'work',
    allows: (role, policy) => role === 'lead' && policy.plan === 'either',
    label: 'Plan',
  },
  tool_permission: {
    payload: permissionPayload,
    askedBy: ['lead', 'teammate'],
    answeredBy: 'human',
    leadStandsIn: true,
    requestType: 'permission_request',
    responseType: 'permission_response',
    boundTo: 'incarnation',
    allows: (role, policy) => role === 'lead' && policy.permission === 'either',
    label: 'Permission',
  },
  team_proposal: {
    payload: proposalPayload,
    askedBy: ['lead'],
    answeredBy: 'human',
    leadStandsIn: false,
    requestType: 'permission_request',
    responseType: 'proposal_response',
    boundTo: 'incarnation',
    allows: () => false,
    readAccepted,
    label: 'Team proposal',
  },
};
