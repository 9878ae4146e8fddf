/**
 * The model server as a process of its own. It prints its base URL as the first line of its output and runs
 * until it is ended (or, with --until-stdin-closes, until its parent is gone).
 *
 * Options: --brain demo|bench|words (demo), --rounds N (20), --words N (100), --tool NAME, --input JSON, --key KEY,
 * --models A,B, --port N (any free one), --delay MS (0)
 */

import { parseArgs } from 'node:util';
import { benchBrain, demoBrain, wordsBrain } from './brains';
import { type Brain, startModelServer } from './index';
import { isJson } from './wire';

const { values } = parseArgs({
  options: {
    brain: { type: 'string', default: 'demo' },
    rounds: { type: 'string', default: '20' },
    words: { type: 'string', default: '100' },
    tool: { type: 'string' },
    input: { type: 'string', default: '{}' },
    key: { type: 'string' },
    models: { type: 'string' },
    port: { type: 'string', default: '0' },
    delay: { type: 'string', default: '0' },
    'until-stdin-closes': { type: 'boolean', default: false },
  },
});

function count(name: string, value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0)
    throw new Error(`--${name} needs a whole number, not '${value}'`);
  return number;
}

async function main(): Promise<void> {
  const input: unknown = JSON.parse(values.input);
  if (!isJson(input)) throw new Error('--input needs a JSON object');
  const rounds = count('rounds', values.rounds);
  const words = count('words', values.words);
  const brains: Record<string, Brain> = {
    demo: demoBrain,
    bench: benchBrain({ rounds, input, ...(values.tool ? { tool: values.tool } : {}) }),
    words: wordsBrain(words),
  };
  const brain = brains[values.brain];
  if (brain === undefined) throw new Error(`--brain is demo, bench or words, not '${values.brain}'`);
  const server = await startModelServer({
    brain,
    port: count('port', values.port),
    delayMs: count('delay', values.delay),
    record: false,
    ...(values.key ? { key: values.key } : {}),
    ...(values.models ? { models: values.models.split(',') } : {}),
  });
  process.stdout.write(`${server.url}\n`);
  const end = (): void => {
    server.close().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', end);
  process.once('SIGINT', end);
  if (values['until-stdin-closes']) process.stdin.once('end', end).resume();
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
