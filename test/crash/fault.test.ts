import * as assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { nodeFileSystem } from '../../src/store/fileSystem';
import { check } from './check';
import { FAULTS, type Fault, FaultyStep } from './faultyStep';
import { type Home, homeAt, Life } from './life';
import { checkMirrorIsWhole } from './mirrorCheck';
import { outcomeOf } from './outcome';
import { makeScratch, SEED } from './scratch';
import { tappedFileSystem } from './tappedFileSystem';

/** Every step of a run fails once; which fault it meets goes by the seed, so that four runs in a row try all. */
const ONLY_EVERY = Number(process.env.HANDSHAKE_FAULT_EVERY ?? 4);
const AT_ONCE = 3;
const MAX_FAILURES = Number(process.env.HANDSHAKE_CRASH_FAILURES ?? 5);

describe(`a team whose disk fails once (seed ${SEED})`, () => {
  let scratch: string;
  let steps = 0;
  let wanted: string[] = [];

  before(async () => {
    scratch = await makeScratch('fault');
  });

  after(() => fs.rm(scratch, { recursive: true, force: true }));

  it('comes to its end on a disk that works', async function () {
    this.timeout(60_000);
    const disk = new FaultyStep(undefined, 'EIO');
    const home = homeAt(path.join(scratch, 'whole'));
    const { wrong, outcome } = await live(home, disk);
    assert.deepEqual(wrong, []);
    steps = disk.steps;
    wanted = outcome;
  });

  it('says which file it is, and loses nothing', async function () {
    // Generous: on a machine that does other things besides, it takes many times as long.
    this.timeout(1_800_000);
    assert.ok(wanted.length > 0, 'there is no whole run to compare with');
    const failures: string[] = [];
    const files = new Set<string>();
    let next = SEED % ONLY_EVERY;
    const worker = async (): Promise<void> => {
      while (next < steps && failures.length < MAX_FAILURES) {
        const at = next;
        next += ONLY_EVERY;
        const fault: Fault = FAULTS[(Math.floor(at / ONLY_EVERY) + SEED) % FAULTS.length] ?? 'EIO';
        const home = homeAt(path.join(scratch, String(at)));
        const disk = new FaultyStep(at, fault);
        const wrong = await survive(home, disk);
        if (disk.failed) files.add(kindOf(home, disk.failed.path));
        const { name = '', path: file = '' } = disk.failed ?? {};
        if (wrong.length === 0) await fs.rm(home.dir, { recursive: true, force: true });
        else failures.push([`${fault} at step ${at}, ${name} ${file}`, ...wrong].join('\n    '));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    assert.ok(failures.length === 0, `\n${failures.join('\n')}`);
    for (const kind of ['journal', 'transcripts', 'inbox', '.team']) assert.ok(files.has(kind), `no ${kind}`);
  });

  async function survive(home: Home, disk: FaultyStep): Promise<string[]> {
    try {
      const { wrong, outcome, said } = await live(home, disk);
      wrong.push(...wanted.filter((line) => !outcome.includes(line)).map((line) => `missing: ${line}`));
      wrong.push(...outcome.filter((line) => !wanted.includes(line)).map((line) => `too much: ${line}`));
      const file = disk.failed?.path;
      // A file of `.team/` is written again at once; only when that fails too there is something to say.
      const isMirror = file?.startsWith(path.join(home.root, '.team')) ?? false;
      if (file && !isMirror && !said.some((text) => text.includes(file)))
        wrong.push(`nobody heard of ${file}`);
      if (wrong.length > 0) wrong.push(...new Set(said.map((text) => `said: ${text}`)));
      return wrong;
    } catch (error) {
      return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
    }
  }

  /** Plays the whole scenario on this disk, and looks at what a window finds that is opened afterwards. */
  async function live(home: Home, disk: FaultyStep) {
    const life = await Life.begin(home, 'only', tappedFileSystem(nodeFileSystem, disk.tap));
    await life.play();
    const wrong = await checkMirrorBecomesWhole(home, life);
    wrong.push(...(await check(home, life, true)));
    await life.end();
    const later = await Life.begin(home, 'later', nodeFileSystem);
    await later.rest();
    wrong.push(...(await check(home, later, true)).map((text) => `opened again: ${text}`));
    const outcome = await outcomeOf(home, later);
    await later.end();
    return { wrong, outcome, said: life.said };
  }
});

/** Far more than the moment takes on a machine that does other things besides. */
const MAX_LOOKS = 1200;

/** What could not be written is written again after a moment, of which nobody is told. */
async function checkMirrorBecomesWhole(home: Home, life: Life): Promise<string[]> {
  for (let looks = 1; ; looks++) {
    try {
      const wrong = checkMirrorIsWhole(home, life);
      if (wrong.length === 0 || looks === MAX_LOOKS) return wrong;
    } catch (error) {
      if (looks === MAX_LOOKS) throw error;
    }
    await delay(50);
  }
}

/** The folder that tells what a file is for. */
function kindOf(home: Home, file: string): string {
  const folder = path.basename(path.dirname(file));
  return path.dirname(file) === home.root ? '.team' : folder;
}
