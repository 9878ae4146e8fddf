import { bash } from './bash';
import { broadcast } from './broadcast';
import { claimTask } from './claimTask';
import { completeTask } from './completeTask';
import { createTask } from './createTask';
import { createWorktree } from './createWorktree';
import { editFile } from './editFile';
import { getTask } from './getTask';
import { listTasks } from './listTasks';
import { listTeammates } from './listTeammates';
import { permissionDecision } from './permissionDecision';
import { planApproval } from './planApproval';
import { proposeTeam } from './proposeTeam';
import { readFile } from './readFile';
import { readInbox } from './readInbox';
import { sendMessage } from './sendMessage';
import { shutdownRequest } from './shutdownRequest';
import { shutdownResponse } from './shutdownResponse';
import { spawnTeammate } from './spawnTeammate';
import type { Tool } from './tool';
import { updateTask } from './updateTask';
import { writeFile } from './writeFile';

/** The table of tools. Which role has one, and whether it mutates, stands in the tool's own file. */
export const TOOLS: readonly Tool[] = [
  bash,
  readFile,
  writeFile,
  editFile,
  spawnTeammate,
  proposeTeam,
  listTeammates,
  sendMessage,
  readInbox,
  broadcast,
  shutdownRequest,
  shutdownResponse,
  planApproval,
  permissionDecision,
  createTask,
  createWorktree,
  updateTask,
  listTasks,
  getTask,
  claimTask,
  completeTask,
];

export * from './roleTools';
export * from './tool';
export * from './toolTable';
