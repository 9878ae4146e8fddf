// A process that runs the core, and that ends itself at a chosen step of its writing: `node child.js ORDER`.
import { nodeFileSystem } from '../../src/store/fileSystem';
import { tapGit } from './gitTap';
import { homeAt, Life } from './life';
import { type Moment, type Order, order, type Report } from './order';
import { SCENARIOS } from './scenario';
import { type Tap, tappedFileSystem } from './tappedFileSystem';

/** Resolves never: the signal cannot be caught. */
function killed(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
}

async function main({ dir, life: name, scenario, kill }: Order): Promise<Report> {
  let steps = 0;
  const next = (): Moment | undefined => {
    const isLast = kill !== undefined && steps === kill.step;
    steps += 1;
    return isLast ? kill.moment : undefined;
  };
  const tap: Tap = async (step, run) => {
    const moment = next();
    if (moment === undefined) return run();
    if (moment === 'before') return killed();
    await run(moment === 'half' && step.name === 'write' ? Math.floor(step.bytes / 2) : undefined);
    return killed();
  };
  tapGit(next, () => void killed());
  const fileSystem = tappedFileSystem(nodeFileSystem, tap);
  const life = await Life.begin(homeAt(dir), name, fileSystem, SCENARIOS[scenario]);
  await life.play();
  await life.end();
  return { steps, said: life.said, problems: life.brain.problems };
}

main(order.parse(JSON.parse(process.argv[2] ?? ''))).then(
  (report) => process.send?.(report, () => process.exit(0)),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
