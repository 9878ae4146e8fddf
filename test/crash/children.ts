import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { type Order, type Report, report } from './order';

export type End = { killed: true } | { killed: false; report: Report };

/**
 * Runs the core in a process of its own until it ends or is killed.
 * @param killAfterMs it is killed from outside after so many milliseconds, wherever it then is
 * @throws when it fails by itself
 */
export async function runChild(order: Order, killAfterMs?: number): Promise<End> {
  const child = fork(join(__dirname, 'child.js'), [JSON.stringify(order)], {
    execArgv: ['--enable-source-maps'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let errors = '';
  child.stderr?.on('data', (data: Buffer) => {
    errors += data.toString('utf8');
  });
  let told: unknown;
  child.on('message', (message) => {
    told = message;
  });
  const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  const { code, signal } = await ended(child);
  clearTimeout(timer);
  if (signal === 'SIGKILL') return { killed: true };
  if (code !== 0) throw new Error(`The process ended with ${code ?? signal}:\n${errors}`);
  return { killed: false, report: report.parse(told) };
}

function ended(child: ChildProcess): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
}
