/**
 * Every id that the manifest and the code share, typed once. `test/unit/contributions.test.ts` compares
 * this file with `package.json`, both ways.
 */

/** Commands of the palette; other extensions, keybindings and tasks may call them with arguments. */
export const Commands = {
  sendToLead: 'handshake.sendToLead',
  approve: 'handshake.approve',
  reject: 'handshake.reject',
  review: 'handshake.review',
  spawnTeammate: 'handshake.spawnTeammate',
  sendMessage: 'handshake.sendMessage',
  broadcast: 'handshake.broadcast',
  requestShutdown: 'handshake.requestShutdown',
  requestPlan: 'handshake.requestPlan',
  interrupt: 'handshake.interrupt',
  forceStop: 'handshake.forceStop',
  stopAll: 'handshake.stopAll',
  openConversation: 'handshake.openConversation',
  openConversationTab: 'handshake.openConversationTab',
  newConversation: 'handshake.newConversation',
  showTeam: 'handshake.showTeam',
  showInbox: 'handshake.showInbox',
  showLogs: 'handshake.showLogs',
  openTranscript: 'handshake.openTranscript',
  setApiKey: 'handshake.setApiKey',
  clearApiKey: 'handshake.clearApiKey',
  selectModel: 'handshake.selectModel',
  runDemo: 'handshake.runDemo',
  cleanUpTeam: 'handshake.cleanUpTeam',
  resumeTeam: 'handshake.resumeTeam',
  raiseBudget: 'handshake.raiseBudget',
  useWorkspaceKey: 'handshake.useWorkspaceKey',
  allowModelAccess: 'handshake.allowModelAccess',
  takeOver: 'handshake.takeOver',
  adoptTeam: 'handshake.adoptTeam',
  showBoard: 'handshake.showBoard',
  createTask: 'handshake.createTask',
  openTask: 'handshake.openTask',
  editTask: 'handshake.editTask',
  assignTask: 'handshake.assignTask',
  releaseTask: 'handshake.releaseTask',
  blockTask: 'handshake.blockTask',
  unblockTask: 'handshake.unblockTask',
  completeTask: 'handshake.completeTask',
  moveTaskUp: 'handshake.moveTaskUp',
  moveTaskDown: 'handshake.moveTaskDown',
  createWorktree: 'handshake.createWorktree',
  removeWorktree: 'handshake.removeWorktree',
  reviewWork: 'handshake.reviewWork',
  acceptWork: 'handshake.acceptWork',
  sendBack: 'handshake.sendBack',
  closeReview: 'handshake.closeReview',
} as const;

/** Commands of rows, diffs and comment boxes: VS Code hands them the thing itself, not an id, so they are not in the palette. */
export const TreeCommands = {
  approve: 'handshake.tree.approve',
  reject: 'handshake.tree.reject',
  review: 'handshake.tree.review',
  approveSelected: 'handshake.tree.approveSelected',
  rejectSelected: 'handshake.tree.rejectSelected',
  copyId: 'handshake.tree.copyId',
  sendMessage: 'handshake.tree.sendMessage',
  requestPlan: 'handshake.tree.requestPlan',
  requestShutdown: 'handshake.tree.requestShutdown',
  interrupt: 'handshake.tree.interrupt',
  forceStop: 'handshake.tree.forceStop',
  openTranscript: 'handshake.tree.openTranscript',
  raiseBudget: 'handshake.tree.raiseBudget',
  goOn: 'handshake.tree.goOn',
  openTask: 'handshake.tree.openTask',
  editTask: 'handshake.tree.editTask',
  assignTask: 'handshake.tree.assignTask',
  releaseTask: 'handshake.tree.releaseTask',
  blockTask: 'handshake.tree.blockTask',
  unblockTask: 'handshake.tree.unblockTask',
  completeTask: 'handshake.tree.completeTask',
  moveTaskUp: 'handshake.tree.moveTaskUp',
  moveTaskDown: 'handshake.tree.moveTaskDown',
  copyTaskId: 'handshake.tree.copyTaskId',
  createWorktree: 'handshake.tree.createWorktree',
  removeWorktree: 'handshake.tree.removeWorktree',
  reviewWork: 'handshake.tree.reviewWork',
  openAllChanges: 'handshake.tree.openAllChanges',
  openChange: 'handshake.tree.openChange',
  openWorkFile: 'handshake.tree.openWorkFile',
  acceptChange: 'handshake.tree.acceptChange',
  acceptPart: 'handshake.tree.acceptPart',
  addComment: 'handshake.tree.addComment',
  deleteComment: 'handshake.tree.deleteComment',
} as const;

/** Registered but not in the manifest: only our own items run them. */
export const InternalCommands = {
  /** The status bar item's click: the oldest pending request, else the Team view. */
  openNext: 'handshake.internal.openNext',
  /** The same click where the window only shows the team. */
  readOnlyMenu: 'handshake.internal.readOnlyMenu',
} as const;

export const Containers = {
  handshake: 'handshake',
  conversation: 'handshakeConversation',
} as const;

export const Views = {
  requests: 'handshake.requests',
  team: 'handshake.team',
  board: 'handshake.board',
  /** The Review view, there while work is under review. */
  changes: 'handshake.changes',
  conversation: 'handshake.conversation',
} as const;

export const Settings = {
  provider: 'handshake.provider',
  model: 'handshake.model',
  teammateModel: 'handshake.teammateModel',
  baseUrl: 'handshake.baseUrl',
  thinking: 'handshake.thinking',
  maxConcurrentCalls: 'handshake.maxConcurrentCalls',
  maxTurns: 'handshake.maxTurns',
  tokenBudget: 'handshake.tokenBudget',
  memberTokenBudget: 'handshake.memberTokenBudget',
  prices: 'handshake.prices',
  requestDeadlineSeconds: 'handshake.requestDeadlineSeconds',
  approvalsPlan: 'handshake.approvals.plan',
  approvalsPermission: 'handshake.approvals.permission',
  approvalsTeam: 'handshake.approvals.team',
  permissionsMode: 'handshake.permissions.mode',
  resume: 'handshake.resume',
  reviewMerge: 'handshake.review.merge',
  reviewCheckCommand: 'handshake.review.checkCommand',
  notifications: 'handshake.notifications',
} as const;

/** Context keys of the manifest's when-clauses, set by `session.ts` and `modelChoice.ts`. */
export const ContextKeys = {
  /** `opening`, `ready`, `failed` or `none`. */
  state: 'handshake.state',
  /** `held`, `free`, `foreign` or `storage` where the window only shows the team, else empty. */
  readOnly: 'handshake.readOnly',
  /** True when a member could call a model now. */
  modelReady: 'handshake.modelReady',
  /** True while work is under review; set by `reviewDesk.ts`. */
  reviewing: 'handshake.reviewing',
} as const;

export const Submenus = { member: 'handshake.member' } as const;

/** Scheme of the read-only documents that show a member's transcript. */
export const TRANSCRIPT_SCHEME = 'handshake-transcript';

/** Scheme of the read-only documents that show a task. */
export const TASK_SCHEME = 'handshake-task';

/** Scheme of the read-only files that are the two sides of reviewed work. */
export const REVIEW_SCHEME = 'handshake-review';
