import type { Core } from '../../src/agent/coreApi';
import { AFTER_RESTART } from '../../src/agent/hold';
import type { TranscriptRecord } from '../../src/agent/transcript';
import type { HandshakeRequest, TeamMessage } from '../../src/protocol';
import { Emitter, type TeamEvent } from '../../src/team/events';
import { type ControllerHost, ConversationController } from '../../src/ui/conversationController';
import { ConversationModel } from '../../src/ui/conversationModel';
import type { ConversationTexts } from '../../src/ui/conversationTexts';
import type { ConversationEntry, ToConversation } from '../../src/ui/messages';
import { member } from './uiFixtures';

export const texts: ConversationTexts = {
  older: 'older left out',
  stopped: 'stopped',
  memberSays: (name, text) => `${name}: ${text}`,
  unknownCommand: (name) => `no command ${name}`,
  help: 'help\ntext',
  notUnderstood: 'NOT UNDERSTOOD',
  notSent: (reason) => `not sent: ${reason}`,
  historyFailed: (reason) => `history: ${reason}`,
  leftWork: (names) => `left work: ${names.join(', ')}`,
  suggestions: ['Spawn alice as a coder. Then request her shutdown.'],
  actions: {
    run_demo: 'Run the demo',
    set_key: 'Set API key',
    retry: 'Try again',
    open_requests: 'Review',
    select_model: 'Select model',
    open_settings: 'Open settings',
    show_logs: 'Show log',
    open_folder: 'Open folder',
    take_over: 'Take Over',
    adopt: 'Adopt Team',
    raise_budget: 'Raise budget',
    allow_access: 'Allow access',
    go_on: 'Go On',
  },
};

let count = 0;

export function mail(content: string, more: Partial<TeamMessage> = {}): TeamMessage {
  count += 1;
  return {
    id: `m${count}`,
    type: 'message',
    from: 'human',
    to: 'lead',
    toIncarnation: 0,
    content,
    timestamp: 1_700_000_000,
    ...more,
  };
}

export function permissionOf(member: string, toolUseId: string, more: Partial<HandshakeRequest> = {}) {
  const request: HandshakeRequest = {
    requestId: 'abcdef12',
    kind: 'tool_permission',
    from: member,
    to: 'human',
    status: 'pending',
    payload: { tool: 'bash', toolUseId, subject: 'npm test', access: 'command' },
    work: { member, incarnation: 0, taskId: null, workVersion: 0 },
    createdAt: 1_700_000_000_000,
    deadlineAt: 1_700_000_060_000,
    ...more,
  };
  return request;
}

/** A clock for the gathering of streamed text: nothing is due before `run`. */
export function handClock() {
  const due = new Set<() => void>();
  return {
    schedule(callback: () => void): () => void {
      due.add(callback);
      return () => void due.delete(callback);
    },
    run(): void {
      const now = [...due];
      due.clear();
      for (const callback of now) callback();
    },
    get waiting(): number {
      return due.size;
    },
  };
}

export function makeModel(limit?: number) {
  const posted: ToConversation[] = [];
  const clock = handClock();
  const model = new ConversationModel({
    texts,
    post: (message) => posted.push(message),
    isDemo: () => false,
    schedule: clock.schedule,
    ...(limit === undefined ? {} : { limit }),
  });
  return { model, posted, clock };
}

const unused = (): never => {
  throw new Error('The Conversation has no business with this part of the core.');
};

/** A team without members but those who are held, whose lead does what the test says. */
export class ScriptedCore implements Core {
  readonly teamName = 'test';
  readonly events = new Emitter<TeamEvent>((error) => {
    throw error;
  });
  records: TranscriptRecord[] = [];
  open: HandshakeRequest[] = [];
  mail: TeamMessage[] = [];
  status: 'working' | 'waiting' | 'idle' | 'failed' = 'idle';
  /** Who waits for the human's word since a restart. */
  held: string[] = [];
  interrupted: string[] = [];
  retried: string[] = [];
  sent: string[] = [];
  onSend: (text: string) => Promise<void> = async (text) => this.accept(text);
  readTranscript: () => Promise<readonly TranscriptRecord[]> = async () => this.records;

  /** Takes the human's words, as the real core does before the turn begins. */
  accept(text: string): void {
    this.events.fire({ type: 'message', message: mail(text) });
  }

  on(listener: (event: TeamEvent) => void) {
    return this.events.on(listener);
  }
  sendToLead(text: string): Promise<void> {
    this.sent.push(text);
    return this.onSend(text);
  }
  async interrupt(name: string): Promise<void> {
    this.interrupted.push(name);
  }
  async retry(name: string): Promise<void> {
    this.retried.push(name);
  }
  transcript = () => this.readTranscript();
  leadStatus = () => ({ status: this.status });
  requests = () => this.open;
  unread = () => this.mail;
  describeTeam = () => 'lead idle';
  describeInbox = () => 'nothing waits';
  describeTasks = () => 'The board is empty.';
  members = () => this.held.filter((name) => name !== 'lead').map((name) => member({ name }));
  member = unused;
  activity = (name: string) => (this.held.includes(name) ? { hold: AFTER_RESTART } : {});
  usage = unused;
  budget = unused;
  allowTokens = unused;
  recheck = unused;
  gateOf = unused;
  request = unused;
  isOverdue = unused;
  decide = unused;
  spawn = unused;
  sendMessage = unused;
  broadcast = unused;
  requestShutdown = unused;
  requestPlan = unused;
  modelChanged(): void {}
  roles = unused;
  leases = unused;
  resumable = unused;
  resume = unused;
  refuseFromCode = unused;
  forceStop = unused;
  stopAll = unused;
  newConversation = unused;
  cleanUpTeam = unused;
  tasks = unused;
  task = unused;
  isReady = unused;
  createTask = unused;
  updateTask = unused;
  assignTask = unused;
  releaseTask = unused;
  completeTask = unused;
  createWorktree = unused;
  inspectWorktree = unused;
  removeWorktree = unused;
  reviewWork = unused;
  reviewContent = unused;
  acceptWork = unused;
  sendBack = unused;
  whenIdle = unused;
  dispose = unused;
}

export function makeController(core: Core | undefined, more: Partial<ControllerHost> = {}) {
  const posted: ToConversation[] = [];
  const ran: string[] = [];
  const errors: string[] = [];
  const clock = handClock();
  let draft = '';
  const host: ControllerHost = {
    core: () => core,
    whyNoCore: () => 'No folder is open.',
    modelState: () => ({ demo: false, ready: true }),
    hasFolder: () => true,
    run: (action) => ran.push(action),
    post: (message) => posted.push(message),
    setDraft: (text) => {
      draft = text;
    },
    draft: () => draft,
    logError: (what, error) => errors.push(`${what}: ${String(error)}`),
    ...more,
  };
  const controller = new ConversationController(host, texts, { schedule: clock.schedule });
  return { controller, host, posted, ran, errors, clock };
}

/** The entries in short: kind and what they say. */
export function brief(entries: readonly ConversationEntry[]): string[] {
  return entries.map(briefly);
}

function briefly(entry: ConversationEntry): string {
  switch (entry.kind) {
    case 'tool':
      return `tool ${entry.name} ${entry.summary} [${entry.state}]${entry.result ? ` ${entry.result}` : ''}`;
    case 'mail':
      return `mail ${entry.from} ${entry.type}: ${entry.text}`;
    case 'notice': {
      const actions = entry.actions.map(({ action }) => action).join(' ');
      return `notice ${entry.level}: ${entry.text}${actions ? ` (${actions})` : ''}`;
    }
    case 'assistant':
      return `assistant: ${entry.text}${entry.streaming ? ' …' : ''}${entry.demo ? ' (demo)' : ''}`;
    case 'human':
      return `human: ${entry.text}`;
  }
}
