import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readReport } from '../host/counts';
import { partsOf } from '../host/lanes';
import { withLock } from '../host/lock';
import { makeTempFolder, removeFolder, root } from '../host/paths';
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

  it('names what passed at the second try, which is no failure', () => {
    const retried = ['a window opens\nError: too late'];
    const counts = { passed: 3, failed: 0, skipped: 0, retried };
    const { lines, code } = summarize([{ suite: 'ui', where: 'here', counts, seconds: 7, problems: [] }], {
      filtered: false,
    });
    assert.equal(code, 0);
    const told = lines.join('\n');
    assert.match(told, /Passed at the second try\n {2}ui: a window opens\n {2}Error: too late\n/);
    assert.match(told, /3 passed, 0 failed, 1 at the second try \(7 s\)/);
  });

  it('fails when a suite ran no test, unless tests were picked by title', () => {
    assert.deepEqual(judge([ran(3), ran(0)]), { last: '3 passed, 1 failed', code: 1 });
    assert.deepEqual(judge([ran(3), ran(0)], true), { last: '3 passed, 0 failed', code: 0 });
    assert.deepEqual(judge([ran(0)], true), { last: '0 passed, 1 failed', code: 1 });
  });
});

describe('a run of tests', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await makeTempFolder('tries');
  });
  afterEach(() => removeFolder(folder));

  /** Each test fails so many times at first; in a process of its own, since mocha keeps one root. */
  async function outcomes(failures: number[], secondTries: number) {
    await writeFile(
      join(folder, 'a.test.js'),
      `const left = ${JSON.stringify(failures)};
       left.forEach((_, i) => it('test ' + i, function () {
         if (left[i]-- > 0) throw new Error('not yet');
       }));
       afterEach(function () {
         if (this.currentTest.state !== 'passed') this.currentTest.seen = 'seen by ' + this.currentTest.title;
       });`,
    );
    const result = join(folder, 'result.json');
    const args = [join(root, 'out', 'host', 'mocha.js'), folder, '--second-tries', String(secondTries)];
    const env = { ...process.env, HANDSHAKE_TEST_RESULT: result, HANDSHAKE_TEST_GREP: '' };
    const code = await new Promise((resolve) => {
      execFile(process.execPath, args, { env }, (error) => resolve(error?.code ?? 0));
    });
    const { passed, failed, failures: failedTexts = [], retried = [] } = await readReport(result);
    const titles = (texts: string[]) => texts.map((text) => text.split('\n')[0]);
    for (const text of [...failedTexts, ...retried]) assert.match(text, /Error: not yet[\s\S]*seen by test/);
    return { code, passed, failed, failures: titles(failedTexts), retried: titles(retried) };
  }

  it('fails at the first failure, where no second try is given', async () => {
    assert.deepEqual(await outcomes([0, 1], 0), {
      code: 1,
      passed: 1,
      failed: 1,
      failures: ['test 1'],
      retried: [],
    });
  });

  it('gives so many second tries, which are named, and none after', async () => {
    assert.deepEqual(await outcomes([1, 0, 1, 1], 2), {
      code: 1,
      passed: 3,
      failed: 1,
      failures: ['test 3'],
      retried: ['test 0', 'test 2'],
    });
    assert.equal((await outcomes([1, 0], 2)).code, 0);
  });

  it('fails where the second try does, and says so once, with why each did', async () => {
    assert.deepEqual(await outcomes([2], 2), {
      code: 1,
      passed: 0,
      failed: 1,
      failures: ['test 0'],
      retried: [],
    });
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
