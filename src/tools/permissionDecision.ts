import { leadDecision } from './leadDecision';
import type { Tool } from './tool';

const lead = leadDecision(
  'permission_response',
  "Decide a teammate's permission request by its request_id: whether the one call it names may run. Look at the whole command or change first, and reject what you would not run yourself; the feedback reaches the teammate. The human may answer before you; then you are told. Your own requests are for the human alone.",
  'Why not, or what to do instead',
);

/** Whether it may be used is decided when it is: the settings can change after it was offered. */
export const permissionDecision: Tool = {
  name: 'permission_decision',
  effect: 'team',
  lead,
  offeredWhile: ({ permission }) => permission === 'either',
};
