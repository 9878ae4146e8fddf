import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { refuseMainPaths } from '../../src/workspace/commandPaths';
import { makeTempFolder, removeFolder } from '../host/paths';

describe('a command of whoever works in a worktree', () => {
  let root: string;
  let checkout: string;

  before(async () => {
    root = await makeTempFolder('paths');
    checkout = join(root, '.team', 'worktrees', 't1');
    for (const folder of [join(root, 'src'), join(checkout, 'src'), join(root, '.team', 'worktrees', 't2')]) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'a.ts'), '');
    }
  });
  after(() => removeFolder(root));

  const run = (command: string): void => refuseMainPaths(command, checkout, { root, checkout });
  const refused = [
    () => `cat ${root}/src/a.ts`,
    () => `bash <<'EOF'\ncat ${root}/src/a.ts\nEOF`,
    () => 'cat ../../../src/a.ts',
    () => 'cat ../t2/a.ts',
    () => 'cd ../t2 && ls',
    () => 'touch ../../../src/new.ts',
    () => 'echo x > ../../../src/new.ts',
    () => 'cd src && cat ../../../../src/a.ts',
    () => 'git -C ../../../src status',
  ];
  for (const command of refused) {
    it(`is not run: ${command()
      .replaceAll(/undefined/g, '<main>')
      .replaceAll('\n', ' ')}`, () => {
      assert.throws(() => run(command()), /^WorkspaceError: Not run: .* is in the main checkout/);
    });
  }

  const allowed = [
    `grep -rn '../util' src`,
    `sed -i "s#'../a'#'../b'#" src/a.ts`,
    `mkdir -p src/x && cat > src/x/b.ts <<'EOF'\nimport { a } from '../../../../src/a';\nEOF`,
    'cd src && cat ../src/a.ts',
    'npm test',
  ];
  for (const command of allowed) {
    it(`is run: ${command.replaceAll('\n', ' ')}`, () => run(command));
  }

  it('is told no path below the folder of the worktrees', () => {
    assert.throws(
      () => run('cat ../t2/a.ts'),
      ({ message }: Error) => !message.includes("use '"),
    );
  });
});
