import * as vscode from 'vscode';
import * as z from 'zod';
import { modelPrices, type PriceTable } from '../model/prices';
import { THINKING_CHOICES, type ThinkingChoice } from '../model/thinkingChoice';
import type { CoreSettings } from '../team/settings';
import { Settings } from './contributions';
import type { NotificationLevel } from './notificationsModel';

/**
 * The settings as they are now. A settings file may hold anything: in place of a value of the wrong kind
 * stands the default or a stricter value, never a laxer one.
 */

const approver = z.enum(['human', 'either']).catch('human');
const teamApproval = z.enum(['human', 'auto']).catch('human');
const reviewMerge = z.enum(['commit', 'uncommitted']).catch('commit');
const resume = z.enum(['ask', 'always']).catch('ask');
const permissionMode = z.enum(['ask', 'acceptEdits', 'plan', 'allow']).catch('ask');
const maxTurns = z.number().int().min(1).max(1000).catch(50);
const maxConcurrentCalls = z.number().int().min(1).max(64).catch(8);
const deadlineSeconds = z.number().min(5).max(86_400).catch(300);
const notificationLevel = z.enum(['all', 'requests', 'none']).catch('all');
const provider = z.enum(['auto', 'anthropic', 'vscode', 'demo']).catch('auto');
const thinking = z.enum(THINKING_CHOICES).catch('auto');
const text = z.string().catch('');
const budget = z.number().int().nonnegative().catch(0);
const prices = z.record(z.string(), z.unknown()).catch({});

export type Provider = z.infer<typeof provider>;

export function coreSettings(): CoreSettings {
  return {
    approvals: {
      plan: read(Settings.approvalsPlan, approver),
      permission: read(Settings.approvalsPermission, approver),
      team: read(Settings.approvalsTeam, teamApproval),
    },
    permissionMode: read(Settings.permissionsMode, permissionMode),
    maxTurns: read(Settings.maxTurns, maxTurns),
    requestDeadlineMs: read(Settings.requestDeadlineSeconds, deadlineSeconds) * 1000,
    resume: read(Settings.resume, resume),
    tokenBudget: {
      team: read(Settings.tokenBudget, budget),
      member: read(Settings.memberTokenBudget, budget),
    },
    review: {
      merge: read(Settings.reviewMerge, reviewMerge),
      checkCommand: read(Settings.reviewCheckCommand, text),
    },
  };
}

export interface ModelSettings {
  provider: Provider;
  /** Empty: not set. */
  model: string;
  /** Empty: as the lead. */
  teammateModel: string;
  /** Empty: not set. */
  baseUrl: string;
}

export function modelSettings(): ModelSettings {
  return {
    provider: read(Settings.provider, provider),
    model: read(Settings.model, text).trim(),
    teammateModel: read(Settings.teammateModel, text).trim(),
    baseUrl: read(Settings.baseUrl, text).trim(),
  };
}

export function thinkingSetting(): ThinkingChoice {
  return read(Settings.thinking, thinking);
}

/** How many model calls of the team may be under way at once. */
export function maxConcurrentCallsSetting(): number {
  return read(Settings.maxConcurrentCalls, maxConcurrentCalls);
}

export function notificationLevelSetting(): NotificationLevel {
  return read(Settings.notifications, notificationLevel);
}

/** What the user says that models cost; an entry that is no price is left out. */
export function pricesSetting(): PriceTable {
  const table = Object.entries(read(Settings.prices, prices)).flatMap(([model, value]) => {
    const entry = modelPrices.safeParse(value);
    return entry.success ? [[model, entry.data] as const] : [];
  });
  return Object.fromEntries(table);
}

function read<T>(id: string, schema: z.ZodType<T>): T {
  return schema.parse(vscode.workspace.getConfiguration().get(id));
}

/** VS Code's own proxy, named in messages about an endpoint that cannot be reached. */
export function httpProxySetting(): string {
  return read('http.proxy', text);
}
