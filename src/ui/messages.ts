import * as z from 'zod';
import { acceptedProposal, proposalPayload } from '../protocol/proposal';

/**
 * The typed messages between the extension and its webviews; both sides import this file and parse what
 * arrives. A webview shows what it is sent and says what was clicked; it decides nothing by itself.
 */

const notice = z.object({
  kind: z.literal('notice'),
  id: z.string(),
  level: z.enum(['info', 'warning', 'error']),
  text: z.string(),
  /** Buttons, by the actions of `conversationAction`. */
  actions: z.array(z.object({ action: z.string(), label: z.string() })),
});

/** What stands in the Conversation, from top to bottom. Ids are stable, so that an entry can be replaced. */
export const conversationEntry = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('human'), id: z.string(), text: z.string() }),
  z.object({
    kind: z.literal('assistant'),
    id: z.string(),
    /** Markdown. */
    text: z.string(),
    streaming: z.boolean(),
    demo: z.boolean(),
  }),
  z.object({
    kind: z.literal('tool'),
    id: z.string(),
    name: z.string(),
    /** One line: the command, the path, the teammate. */
    summary: z.string(),
    input: z.string(),
    result: z.string().optional(),
    state: z.enum(['running', 'waiting', 'done', 'error']),
  }),
  z.object({
    kind: z.literal('mail'),
    id: z.string(),
    from: z.string(),
    type: z.string(),
    text: z.string(),
    external: z.boolean(),
  }),
  notice,
]);
export type ConversationEntry = z.infer<typeof conversationEntry>;

/** The one entry that always stands first: the line saying that older entries are not shown. */
export const OLDER_ID = 'older';

export const toConversation = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('state'),
    entries: z.array(conversationEntry),
    busy: z.boolean(),
    demo: z.boolean(),
    draft: z.string(),
    /** Sentences offered while the conversation is empty. */
    suggestions: z.array(z.string()),
    /** Buttons offered while the conversation is empty, such as the demo or setting a key. */
    welcome: z.array(z.object({ action: z.string(), label: z.string() })),
    /** Stands in the place of the input where the window only shows the team. */
    readOnly: z.object({ why: z.string(), action: z.string(), label: z.string() }).optional(),
  }),
  z.object({ type: z.literal('upsert'), entry: conversationEntry }),
  z.object({ type: z.literal('append_text'), id: z.string(), text: z.string() }),
  z.object({ type: z.literal('remove'), id: z.string() }),
  z.object({ type: z.literal('busy'), busy: z.boolean() }),
  /** Replaces what stands in the input: text that could not be sent, or what was typed in another view. */
  z.object({ type: z.literal('draft'), text: z.string() }),
]);
export type ToConversation = z.infer<typeof toConversation>;

export const CONVERSATION_ACTIONS = [
  'run_demo',
  'set_key',
  'retry',
  'open_requests',
  'select_model',
  'open_settings',
  'show_logs',
  'open_folder',
  'take_over',
  'adopt',
  'raise_budget',
  'allow_access',
  'go_on',
] as const;
export type ConversationAction = (typeof CONVERSATION_ACTIONS)[number];

/** Characters; a page refuses what is longer before it leaves the input. */
export const LONGEST_MESSAGE = 1_000_000;
export const LONGEST_FEEDBACK = 200_000;
const LONGEST_DRAFT = 4_000_000;

/** Of a draft that is too long to be kept it is enough that the log says so: the page still has it. */
export function isDraft(raw: unknown): boolean {
  return (
    typeof raw === 'object' && raw !== null && 'type' in raw && (raw.type === 'draft' || raw.type === 'edits')
  );
}

export const fromConversation = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('send'), text: z.string().min(1).max(LONGEST_MESSAGE) }),
  z.object({ type: z.literal('stop') }),
  z.object({ type: z.literal('draft'), text: z.string().max(LONGEST_DRAFT) }),
  z.object({ type: z.literal('action'), action: z.enum(CONVERSATION_ACTIONS) }),
  z.object({ type: z.literal('open_link'), href: z.string().max(4000) }),
]);
export type FromConversation = z.infer<typeof fromConversation>;

/** The one panel for a request; it shows exactly one, named by its id. */
export const requestView = z.object({
  requestId: z.string(),
  kind: z.enum(['shutdown', 'plan_approval', 'tool_permission', 'team_proposal']),
  title: z.string(),
  from: z.string(),
  to: z.string(),
  role: z.string().optional(),
  /** What the teammate concerned is doing now. */
  doing: z.string().optional(),
  status: z.enum(['pending', 'approved', 'rejected', 'cancelled']),
  overdue: z.boolean(),
  /** One sentence on how it ended. */
  outcome: z.string().optional(),
  /** Markdown: the plan; plain text for the other kinds. */
  plan: z.string().optional(),
  reason: z.string().optional(),
  command: z.string().optional(),
  path: z.string().optional(),
  diff: z.string().optional(),
  files: z.array(z.string()).optional(),
  commands: z.array(z.string()).optional(),
  /** A proposed team: what the lead proposed, and what was accepted where that is something else. */
  proposal: z
    .object({
      payload: proposalPayload,
      accepted: acceptedProposal.optional(),
      /** Names that are in the team already. */
      taken: z.array(z.string()),
      /** The roles of the workspace's files, to choose from. */
      roles: z.array(z.object({ name: z.string(), description: z.string() })),
      /** One sentence on how many model calls it means; undefined where the lead gave no number. */
      estimate: z.string().optional(),
    })
    .optional(),
  createdAt: z.number(),
  canForceStop: z.boolean(),
  /** Why it cannot be answered in this window, in the place of the buttons. */
  readOnly: z.string().optional(),
});
export type RequestView = z.infer<typeof requestView>;

export const toRequestPanel = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('show'),
    view: requestView,
    draft: z.string(),
    /** What the page last kept of the edits of a proposal. */
    edits: z.string().optional(),
    focusFeedback: z.boolean(),
  }),
  z.object({ type: z.literal('failed'), text: z.string() }),
  /** There is no such request, or no team to ask. */
  z.object({ type: z.literal('missing'), text: z.string() }),
]);
export type ToRequestPanel = z.infer<typeof toRequestPanel>;

export const fromRequestPanel = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({
    type: z.literal('decide'),
    requestId: z.string(),
    approve: z.boolean(),
    feedback: z.string().max(LONGEST_FEEDBACK),
    /** The part of a proposal that is approved, where that is not all as it stands. */
    accepted: acceptedProposal.optional(),
  }),
  z.object({ type: z.literal('force_stop'), requestId: z.string() }),
  z.object({ type: z.literal('draft'), text: z.string().max(LONGEST_DRAFT) }),
  /** The edits of a proposal that was not answered yet, in a form of the page's own. */
  z.object({ type: z.literal('edits'), text: z.string().max(LONGEST_DRAFT) }),
  z.object({ type: z.literal('open_link'), href: z.string().max(4000) }),
]);
export type FromRequestPanel = z.infer<typeof fromRequestPanel>;
