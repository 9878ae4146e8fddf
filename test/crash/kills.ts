import * as assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { nodeFileSystem } from '../../src/store/fileSystem';
import { runChild } from './children';
import { type Home, homeAt, Life } from './life';
import type { Order } from './order';
import { outcomeOf } from './outcome';
import { Random } from './random';
import { SCENARIOS, type ScenarioName } from './scenario';
import { makeScratch, SEED } from './scratch';

/** As many as there are cores on a small machine; each child and each recovery keeps one busy. */
const AT_ONCE = 2;
const MAX_FAILURES = Number(process.env.HANDSHAKE_CRASH_FAILURES ?? 5);

/** Where a run is killed, and where its first recovery is, if that is killed too. */
interface Point {
  name: string;
  kills: (Order['kill'] | { afterMs: number })[];
}

/**
 * A team at work is killed, hard, at points spread over all that it writes; then its folder is opened again.
 * @param who as the title of the tests names it
 * @param points how often it is killed
 */
export function describeKills(who: string, name: ScenarioName, points: number): void {
  describe(`${who} killed at ${points} points (seed ${SEED})`, () => killAt(name, points));
}

function killAt(name: ScenarioName, points: number): void {
  const scenario = SCENARIOS[name];
  const random = new Random(SEED);
  let temp: string;
  let steps = 0;
  let milliseconds = 0;
  let wanted: string[] = [];

  before(async () => {
    temp = await makeScratch(`crash-${name}`);
  });

  after(() => fs.rm(temp, { recursive: true, force: true }));

  it('comes to its end when nobody kills it', async () => {
    const home = homeAt(path.join(temp, 'whole'));
    await scenario.prepare(home);
    const begun = performance.now();
    const end = await runChild({ dir: home.dir, life: 'whole', scenario: name });
    milliseconds = performance.now() - begun;
    assert.ok(!end.killed);
    assert.deepEqual(end.report.problems, []);
    assert.deepEqual(
      end.report.said.filter((text) => /^(warning|error):/.test(text)),
      [],
    );
    steps = end.report.steps;
    const life = await Life.begin(home, 'after', nodeFileSystem, scenario);
    await life.rest();
    wanted = await outcomeOf(home, life);
    assert.deepEqual(await scenario.check(home, life, true), []);
    await life.end();
  });

  it('loses nothing, does nothing twice, and comes to the same end', async function () {
    // Generous: on a machine that does other things besides, it takes many times as long.
    this.timeout(1_800_000);
    assert.ok(wanted.length > 0, 'there is no whole run to compare with');
    const failures: string[] = [];
    let index = 0;
    const worker = async (): Promise<void> => {
      while (index < points && failures.length < MAX_FAILURES) {
        index += 1;
        const number = index;
        // A run can be shorter than the first one, and end before its point; then it gets an earlier one.
        for (let end = 0.97; ; end *= 0.9) {
          const home = homeAt(path.join(temp, `${number}-${end}`));
          const point = choose(number, end);
          const { killed, wrong } = await survive(home, point);
          if (wrong.length > 0) failures.push([point.name, ...wrong].join('\n    '));
          else await fs.rm(home.dir, { recursive: true, force: true });
          if (killed || wrong.length > 0) break;
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    assert.ok(failures.length === 0, `\n${failures.join('\n')}`);
  });

  /** Spread over the whole run: each point has a stretch of it to itself. */
  function choose(number: number, end: number): Point {
    const stretch = (steps * end) / points;
    const kill = (step: number) => ({ step, moment: random.pick(['before', 'half', 'after'] as const) });
    const first =
      random.next() < 0.15
        ? { afterMs: random.next() * milliseconds * end }
        : kill(Math.floor((number - 1 + random.next()) * stretch));
    const again = random.next() < 0.2 ? [kill(random.below(Math.ceil(steps / 4)))] : [];
    const kills = [first, ...again];
    return { name: `point ${number}: ${JSON.stringify(kills)}`, kills };
  }

  async function survive(home: Home, point: Point): Promise<{ killed: boolean; wrong: string[] }> {
    const wrong: string[] = [];
    let killed = false;
    try {
      await scenario.prepare(home);
      for (const [index, kill] of point.kills.entries()) {
        const order = { dir: home.dir, life: `k${index}`, scenario: name };
        const end =
          kill && 'afterMs' in kill
            ? await runChild(order, kill.afterMs)
            : await runChild({ ...order, ...(kill ? { kill } : {}) });
        if (end.killed) killed = true;
        else wrong.push(...end.report.problems);
      }
      const life = await Life.begin(home, 'last', nodeFileSystem, scenario);
      await life.rest();
      wrong.push(...(await scenario.check(home, life, false)).map((text) => `at rest: ${text}`));
      await life.play();
      wrong.push(...(await scenario.check(home, life, true)).map((text) => `in the end: ${text}`));
      const outcome = await outcomeOf(home, life);
      await life.end();
      wrong.push(...wanted.filter((line) => !outcome.includes(line)).map((line) => `missing: ${line}`));
      wrong.push(...outcome.filter((line) => !wanted.includes(line)).map((line) => `too much: ${line}`));
      if (wrong.length > 0) wrong.push(...new Set(life.said.map((text) => `said: ${text}`)));
    } catch (error) {
      wrong.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    }
    return { killed, wrong };
  }
}
