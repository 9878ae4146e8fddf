import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';

/**
 * Compares text with `test/unit/golden/<name>`. One that is missing fails; `UPDATE_GOLDEN=1` writes it, and
 * whoever does that reads the difference.
 */
export function matchesGolden(name: string, actual: string): void {
  const file = path.join(projectRoot(), 'test', 'unit', 'golden', name);
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(file, actual);
  assert.ok(existsSync(file), `${file} is missing; UPDATE_GOLDEN=1 writes it`);
  assert.equal(actual, readFileSync(file, 'utf8'));
}

function projectRoot(): string {
  let dir = __dirname;
  while (!existsSync(path.join(dir, 'package.json'))) {
    const above = path.dirname(dir);
    assert.notEqual(above, dir, 'No package.json above the tests.');
    dir = above;
  }
  return dir;
}
