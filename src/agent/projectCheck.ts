import type { Workspace } from '../workspace/port';
import type { CheckOutcome } from './reviewApi';

/** A project's tests take their time; longer than this they hang. */
const CHECK_TIMEOUT_MS = 15 * 60_000;

/**
 * Runs the project's own check in the workspace folder.
 * @param signal ends it
 */
export async function runCheck(
  workspace: Workspace,
  command: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<CheckOutcome> {
  const outcome = await workspace
    .forMember('human')
    .runCommand(command, { timeoutMs: CHECK_TIMEOUT_MS, signal });
  const { exitCode, timedOut, aborted: cancelled, output } = outcome;
  return {
    command,
    passed: exitCode === 0 && !timedOut && !cancelled,
    exitCode,
    timedOut,
    cancelled,
    output,
  };
}
