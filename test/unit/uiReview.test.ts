import assert from 'node:assert/strict';
import type { AcceptOutcome, Review, ReviewFile, ReviewHunk } from '../../src/agent/reviewApi';
import {
  commentsMessage,
  fileRow,
  firstChangedLine,
  hunkAt,
  hunkRow,
  isLabelOf,
  lineToGoOnAt,
  ReviewChecks,
} from '../../src/ui/reviewModel';
import { lossLines, outcomeSentence } from '../../src/ui/reviewTexts';

function hunk(id: string, newStart: number, lines: string[]): ReviewHunk {
  const count = (kinds: string) => lines.filter((line) => kinds.includes(line.charAt(0))).length;
  return { id, oldStart: newStart, oldLines: count(' -'), newStart, newLines: count(' +'), lines };
}

function file(path: string, hunks: readonly ReviewHunk[], overrides: Partial<ReviewFile> = {}): ReviewFile {
  const count = (kind: string) =>
    hunks.flatMap(({ lines }) => lines).filter((line) => line.startsWith(kind)).length;
  return {
    id: `f:${path}`,
    path,
    status: 'modified',
    binary: false,
    added: count('+'),
    deleted: count('-'),
    baseBlob: 'aa',
    workBlob: 'bb',
    hunks,
    ...overrides,
  };
}

const first = hunk('h1', 3, [' const a = 1;', '-const b = 2;', '+const b = 3;', ' ']);
const second = hunk('h2', 40, [' }', '+', '+export { b };']);
const router = file('src/router.js', [first, second]);
const picture = file('logo.png', [], { id: 'f:logo', binary: true, status: 'added' });
const review: Review = {
  taskId: 't1',
  revision: 'r1',
  branch: 'handshake/t1',
  into: 'main',
  folder: '/w/.team/worktrees/t1',
  mainFolder: '/w',
  files: [router, picture],
};

describe('what is checked in a review', () => {
  it('is everything at first, named by the revision that was shown', () => {
    assert.deepEqual(new ReviewChecks().selection(review), { everything: 'r1' });
  });

  it('is whole files and single parts of others', () => {
    const checks = new ReviewChecks();
    checks.setHunk(second, false);
    assert.equal(checks.stateOf(router), 'some');
    assert.deepEqual(checks.selection(review), { files: ['f:logo'], hunks: ['h1'] });
    checks.setFile(picture, false);
    assert.deepEqual(checks.selection(review), { files: [], hunks: ['h1'] });
    checks.setFile(router, false);
    assert.equal(checks.selection(review), undefined);
    checks.setFile(router, true);
    assert.deepEqual(checks.selection(review), { files: ['f:src/router.js'], hunks: [] });
  });

  it('does not outlast the content it was about', () => {
    const checks = new ReviewChecks();
    checks.setHunk(second, false);
    const changed = hunk('h3', 40, ['+export { a, b };']);
    const next = { ...review, revision: 'r2', files: [file('src/router.js', [first, changed])] };
    checks.keepOnly(next);
    assert.deepEqual(checks.selection(next), { everything: 'r2' });
    checks.keepOnly(review);
    assert.equal(checks.isChecked(second), true);
  });
});

describe('the rows of a review', () => {
  it('say how much of a file is chosen', () => {
    const checks = new ReviewChecks();
    assert.equal(fileRow(router, checks).description, 'src · +3 −1');
    checks.setHunk(first, false);
    assert.equal(fileRow(router, checks).description, 'src · +3 −1 · 1 of 2 parts');
    assert.match(fileRow(router, checks).spoken, /^src\/router\.js, modified, .* to be accepted in part$/);
    assert.equal(fileRow(picture, checks).description, 'binary');
    assert.equal(fileRow(picture, checks).spoken, 'logo.png, added, binary, to be accepted');
    const dump = file('db/dump.sql', [], { large: true });
    assert.equal(fileRow(dump, checks).description, 'db · too large to compare');
    assert.equal(fileRow(picture, checks).hasHunks, false);
  });

  it('lead to the first line of a part that changed', () => {
    assert.equal(firstChangedLine(first), 4);
    assert.deepEqual(hunkRow(first, new ReviewChecks()).label, 'Line 4');
    assert.equal(hunkRow(second, new ReviewChecks()).description, '+2 −0 · export { b };');
    assert.equal(hunkAt(router, 5)?.id, 'h1');
    assert.equal(hunkAt(router, 20), undefined);
  });

  it('is gone on from to the next one, and from the last to the first', () => {
    assert.deepEqual(
      [4, 20, 41, 60].map((line) => lineToGoOnAt(router, line)),
      [4, 41, 41, 4],
    );
    assert.equal(lineToGoOnAt(picture, 1), undefined);
  });

  it('is known by a line of either side, whose numbers are not the same', () => {
    const longer = { ...first, newLines: 30 };
    const moved = file('src/router.js', [longer, { ...second, oldStart: 13, newStart: 40 }]);
    assert.equal(hunkAt(moved, 13, 'base')?.id, 'h2');
    assert.equal(hunkAt(moved, 13, 'work')?.id, 'h1');
    assert.equal(hunkAt(moved, 40, 'base'), undefined);
  });
});

describe('the tab with all diffs of a review', () => {
  it('is known by its title, with the number of files that VS Code adds, and no other is', () => {
    const title = 'Review of t1: Greet';
    for (const added of ['', ' (1 file)', ' (1 files)', ' (12 files)', ' (2 Dateien)', '（2 件）']) {
      assert.ok(isLabelOf(`${title}${added}`, title), added);
    }
    for (const other of ['Review of t12: Greet (1 file)', `${title} everybody (2 files)`, 'greet.md']) {
      assert.equal(isLabelOf(other, title), false, other);
    }
  });
});

describe('comments of a review', () => {
  it('become one message, file by file, each with the line it stands at', () => {
    const message = commentsMessage('Almost.', [
      { path: 'b.js', line: 9, quoted: 'x();', side: 'base', text: 'Keep this.' },
      { path: 'a.js', line: 12, quoted: 'y();', side: 'work', text: 'Why twice?' },
      { path: 'a.js', line: 2, quoted: 'z();', side: 'work', text: 'Name it.' },
    ]);
    assert.equal(
      message,
      'Almost.\n\na.js:2\n> z();\nName it.\n\na.js:12\n> y();\nWhy twice?\n\nb.js:9 (before the change)\n> x();\nKeep this.',
    );
    assert.equal(commentsMessage('  ', []), '');
  });
});

describe('what is said of an acceptance', () => {
  const merged: AcceptOutcome = {
    outcome: 'merged',
    mode: 'commit',
    commit: '0123456789abcdef',
    files: ['a', 'b'],
    conflicts: [],
    remaining: 0,
  };
  const check = {
    command: 'npm test',
    passed: true,
    exitCode: 0,
    timedOut: false,
    cancelled: false,
    output: '',
  };

  it('names the commit, the check and what is left', () => {
    assert.equal(outcomeSentence('t1', 'main', merged), 't1 is in main: 2 files, commit 01234567.');
    assert.equal(
      outcomeSentence('t1', '', { ...merged, mode: 'uncommitted', remaining: 1, check }),
      't1 is in your detached HEAD: 2 files, not committed. The check passed: npm test. 1 file left to review.',
    );
    assert.match(
      outcomeSentence('t1', 'main', { ...merged, check: { ...check, passed: false, exitCode: 1 } }),
      /The check failed: npm test \(exit code 1\)\.$/,
    );
    assert.match(
      outcomeSentence('t1', 'main', {
        ...merged,
        check: { ...check, passed: false, exitCode: null, timedOut: true },
      }),
      /The check took too long: npm test\.$/,
    );
  });

  it('says where the conflicts are and how they end', () => {
    const conflicts = { ...merged, outcome: 'conflicts', conflicts: ['src/a.js'] } as const;
    assert.equal(
      outcomeSentence('t1', 'main', conflicts),
      't1 is in main, except for a conflict in src/a.js. Resolve it in the merge editor, then commit.',
    );
  });
});

describe('what would be lost with a worktree', () => {
  it('is said in a line each, and a clean one loses nothing', () => {
    const clean = {
      taskId: 't1',
      path: '',
      branch: '',
      uncommitted: [],
      inSubmodules: [],
      unmerged: [],
      ignored: [],
      commits: [],
    };
    assert.deepEqual(lossLines(clean), []);
    const many = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    assert.deepEqual(
      lossLines({
        ...clean,
        boundTo: 'bob',
        uncommitted: many,
        inSubmodules: ['lib/y'],
        unmerged: ['x'],
        ignored: ['.env'],
        commits: ['B', 'A'],
      }),
      [
        'bob works in it now.',
        'Not committed: a, b, c, d, e and 2 more',
        'Not committed in a submodule: lib/y',
        'Not in your branch: x',
        '2 commits are on no other branch: B, A',
        'Ignored by git, and nowhere else: .env',
      ],
    );
  });
});
