import assert from 'node:assert/strict';
import type { Lease } from '../../src/team/leaseRecords';
import { leaseLines } from '../../src/ui/leaseText';

const lease = (member: string, path: string): Lease => ({
  key: `/w/${path}`,
  path,
  member,
  incarnation: 1,
  task: `${member}-1.1`,
  at: 0,
});

describe('the files that a member changes, in words', () => {
  it('stand one a line, with who changes the same one', () => {
    const leases = [
      lease('alice', 'a.ts'),
      lease('bob', 'a.ts'),
      lease('alice', 'b.ts'),
      lease('carl', 'c.ts'),
    ];
    assert.deepEqual(leaseLines(leases, 'alice'), ['changes a.ts, and so does bob', 'changes b.ts']);
    assert.deepEqual(leaseLines(leases, 'bob'), ['changes a.ts, and so does alice']);
    assert.deepEqual(leaseLines(leases, 'dora'), []);
  });

  it('are counted where they are many', () => {
    const leases = Array.from({ length: 11 }, (_, index) => lease('alice', `f${index}.ts`));
    const lines = leaseLines(leases, 'alice');
    assert.equal(lines.length, 9);
    assert.equal(lines.at(-1), 'and 3 more files');
  });
});
