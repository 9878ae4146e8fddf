import { type ChildProcess, spawn } from 'node:child_process';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import type * as z from 'zod';

export interface ChildOptions {
  args?: readonly string[];
  env?: NodeJS.ProcessEnv;
  /** Options of Node's own. */
  node?: readonly string[];
}

function start(
  script: string,
  { args = [], env = {}, node = [] }: ChildOptions,
  stdin: 'ignore' | 'pipe',
): ChildProcess {
  const file = path.join(__dirname, `${script}.js`);
  // Without source maps: reading them would be measured as well.
  return spawn(process.execPath, [...node, file, ...args], {
    stdio: [stdin, 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
}

/**
 * Runs one of the bench's scripts in a process of its own and reads the JSON it reports (see {@link report}).
 * @throws when it fails, or reports something else
 */
export async function runChild<S extends z.ZodType>(
  script: string,
  shape: S,
  options: ChildOptions = {},
): Promise<z.infer<S>> {
  const child = start(script, options, 'ignore');
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`bench/${script} ended with code ${code}.`);
  return shape.parse(JSON.parse(output));
}

export interface Server {
  url: string;
  stop(): Promise<void>;
}

/** Starts a script that prints its URL as its first line and ends with its standard input. */
export async function startServer(script: string, args: readonly string[]): Promise<Server> {
  const child = start(script, { args: [...args, '--until-stdin-closes'] }, 'pipe');
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error(`bench/${script} has no pipes.`);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  const url = await Promise.race([
    new Promise<string>((resolve) => createInterface({ input: stdout }).once('line', resolve)),
    ended.then((code): string => {
      throw new Error(`bench/${script} ended with code ${code} before it was ready.`);
    }),
  ]);
  return {
    url,
    async stop() {
      stdin.end();
      await ended;
    },
  };
}

/** Ends a bench script: `work` gives what it reports to the process that runs the bench. */
export function report(work: () => Promise<unknown>): void {
  work().then(
    (result) => process.stdout.write(JSON.stringify(result)),
    (error: unknown) => {
      console.error(error);
      process.exitCode = 1;
    },
  );
}

/** The argument at a position of a bench script. @throws when it is missing */
export function argument(index: number, what: string): string {
  const value = process.argv[index + 2];
  if (value === undefined) throw new Error(`The argument ${index + 1} is missing: ${what}.`);
  return value;
}
