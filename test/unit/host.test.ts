import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { partsOf } from '../host/lanes';
import { withLock } from '../host/lock';
import { makeTempFolder, removeFolder } from '../host/paths';
import { runsOnServer, type SuiteName } from '../host/suites';
import { type Result, summarize } from '../host/summary';

const ran = (passed: number, failed = 0, problems: string[] = []): Result => ({
  suite: 'unit',
  where: 'Node',
  counts: { passed, failed, skipped: 0 },
  problems,
});

describe('the summary of a run', () => {
  const judge = (results: Result[], filtered = false) => {
    const { lines, code } = summarize(results, { filtered });
    return { last: lines.at(-1), code };
  };

  it('ends with the totals alone on a line', () => {
    assert.deepEqual(judge([ran(3), ran(4)]), { last: '7 passed, 0 failed', code: 0 });
  });

  it('fails when a test failed, a step failed, or a suite could not run', () => {
    assert.deepEqual(judge([ran(3, 1)]), { last: '3 passed, 1 failed', code: 1 });
    const lint: Result = { suite: 'lint', where: 'biome', problems: ['not formatted'] };
    assert.deepEqual(judge([ran(3), lint]), { last: '3 passed, 1 failed', code: 1 });
    assert.deepEqual(judge([ran(0, 0, ['no Chromium'])]), { last: '0 passed, 1 failed', code: 1 });
  });

  it('tells at its end what failed and why, however long the log above it is', () => {
    const failures = ['a team comes home\nError: no\n    at here', `long\n${'line\n'.repeat(500)}`];
    const counts = { passed: 3, failed: 2, skipped: 0, failures };
    const { lines } = summarize([{ suite: 'crash', where: 'Node', counts, problems: [] }], {
      filtered: false,
    });
    const told = lines.join('\n');
    assert.match(told, /Failed\n {2}crash: a team comes home\n {2}Error: no\n {6}at here\n {2}crash: long\n/);
    assert.ok(told.split('\n').length < 100);
  });

  it('fails when a suite ran no test, unless tests were picked by title', () => {
    assert.deepEqual(judge([ran(3), ran(0)]), { last: '3 passed, 1 failed', code: 1 });
    assert.deepEqual(judge([ran(3), ran(0)], true), { last: '3 passed, 0 failed', code: 0 });
    assert.deepEqual(judge([ran(0)], true), { last: '0 passed, 1 failed', code: 1 });
  });
});

describe('the parts of a run', () => {
  const settings = { host: undefined, grep: undefined, desktop: 'stable' };
  const names = (...suites: SuiteName[]) =>
    partsOf(suites, settings).map(({ suite, host }) => (host === undefined ? suite : `${suite} ${host}`));

  it('are every suite, the extension on each host it can be had on, the longest first', () => {
    const extension = runsOnServer ? ['extension newest', 'extension oldest'] : ['extension'];
    assert.deepEqual(names('unit', 'crash', 'extension', 'ui'), ['ui', 'unit', 'crash', ...extension]);
    assert.deepEqual(names('electron', 'unit'), ['unit', 'electron']);
  });

  it('are on the host that was asked for', () => {
    assert.deepEqual(partsOf(['extension'], { ...settings, host: 'oldest' }), [
      { suite: 'extension', host: 'oldest' },
    ]);
  });
});

describe('the install lock', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await makeTempFolder('lock');
  });
  afterEach(() => removeFolder(folder));

  it('lets one in at a time and is gone afterwards', async () => {
    const file = join(folder, 'x.lock');
    let inside = 0;
    let most = 0;
    let waited = 0;
    const enter = () =>
      withLock(
        file,
        () => {
          waited += 1;
        },
        async () => {
          inside += 1;
          most = Math.max(most, inside);
          await new Promise((resolve) => setImmediate(resolve));
          inside -= 1;
        },
      );
    await Promise.all([enter(), enter(), enter()]);
    assert.equal(most, 1);
    assert.ok(waited > 0);
    assert.equal(existsSync(file), false);
  });

  it('takes over from an owner that has died', async () => {
    const file = join(folder, 'x.lock');
    // Larger than any process id that Linux, macOS or Windows gives.
    await writeFile(file, '999999999');
    assert.equal(await withLock(file, assert.fail, async () => 'done'), 'done');
  });
});
