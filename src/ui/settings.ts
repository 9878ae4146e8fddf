import * as vscode from 'vscode';
import * as z from 'zod';
import { modelPrices, type PriceTable } from '../model/prices';
import { THINKING_CHOICES, type ThinkingChoice } from '../model/thinkingChoice';
import type { CoreSettings } from '../team/settings';
import { Settings } from './contributions';
import type { NotificationLevel } from './notificationsModel';
import { type NumberSetting, numberSetting, UnreadNumbers } from './numberSetting';

/**
 * The settings as they are now. A settings file may hold anything: in place of a value of the wrong kind
 * stands the default or a stricter value, never a laxer one; a number is taken as it was meant.
 */

const approver = z.enum(['human', 'either']).catch('human');
const teamApproval = z.enum(['human', 'auto']).catch('human');
const reviewMerge = z.enum(['commit', 'uncommitted']).catch('commit');
const resume = z.enum(['ask', 'always']).catch('ask');
const permissionMode = z.enum(['ask', 'acceptEdits', 'plan', 'allow']).catch('ask');
const notificationLevel = z.enum(['all', 'requests', 'none']).catch('all');
const provider = z.enum(['auto', 'anthropic', 'vscode', 'demo']).catch('auto');
const thinking = z.enum(THINKING_CHOICES).catch('auto');
const text = z.string().catch('');
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
    maxTurns: readNumber(Settings.maxTurns),
    requestDeadlineMs: readNumber(Settings.requestDeadlineSeconds) * 1000,
    resume: read(Settings.resume, resume),
    tokenBudget: {
      team: readNumber(Settings.tokenBudget),
      member: readNumber(Settings.memberTokenBudget),
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
  return readNumber(Settings.maxConcurrentCalls);
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

/**
 * Tells of number settings that cannot be understood, now and whenever a setting changes. Not where they are read:
 * that is done again and again.
 */
export function tellUnreadNumbers(tell: (text: string) => void): vscode.Disposable {
  const unread = new UnreadNumbers();
  const look = () => unread.look(settingValue).forEach(tell);
  look();
  return vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration('handshake')) look();
  });
}

function read<T>(id: string, schema: z.ZodType<T>): T {
  return schema.parse(settingValue(id));
}

function readNumber(id: NumberSetting): number {
  return numberSetting(id, settingValue(id));
}

function settingValue(id: string): unknown {
  return vscode.workspace.getConfiguration().get(id);
}

/** VS Code's own proxy, named in messages about an endpoint that cannot be reached. */
export function httpProxySetting(): string {
  return read('http.proxy', text);
}
