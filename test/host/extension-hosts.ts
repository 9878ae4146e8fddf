import { hasCode } from './errors';
import { run } from './processes';

/** The process ids of the extension hosts that a server runs. */
export async function extensionHostPids(serverPid: number): Promise<number[]> {
  const listing = await run('ps', ['-eo', 'pid=,ppid=,args='], { cwd: '/' });
  return listing
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match !== null)
    .filter(([, , parent, args]) => Number(parent) === serverPid && args?.includes('--type=extensionHost'))
    .map(([, pid]) => Number(pid));
}

/** Kills a process hard, if it has not ended meanwhile. */
export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}
