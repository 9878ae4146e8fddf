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
  const shown = (command: string): string => command.replaceAll(/undefined/g, '<main>').replaceAll('\n', '⏎');

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
    // What a subshell, a part of a pipe or a job in the background goes to is not where the next command is.
    () => '(cd src); cat ../../../src/a.ts',
    () => '(cd src && ls) && cat ../../../src/a.ts',
    () => 'echo "$(cd src && pwd)"; cat ../../../src/a.ts',
    () => 'cd src | cat ../../../src/a.ts',
    () => 'ls | cd src; cat ../../../src/a.ts',
    () => 'cd src & cat ../../../src/a.ts',
    () => 'cd src && (cd x; cat ../../../../../src/a.ts)',
    () => 'pushd src; popd; cat ../../../src/a.ts',
    () => 'pushd src && pushd . && popd && popd && cat ../../../src/a.ts',
    () => 'pushd src; pushd; cat ../../../src/a.ts',
    () => 'cd src; cd -; cat ../../../src/a.ts',
    () => 'cd -P -- src && cat ../../../../src/a.ts',
    () => 'cd missing; cat ../../../src/a.ts',
    () => 'cd missing && ls; cat ../../../src/a.ts',
    () => 'cd missing || cat ../../../src/a.ts',
    () => 'ls src || cd src; cat ../../../src/a.ts',
    // Commands within words.
    () => 'echo "$(cat ../../../src/a.ts)"',
    () => 'echo `cat ../../../src/a.ts`',
    () => `sh -c 'cat ../../../src/a.ts'`,
    () => `bash -lc "cd src && cat ../../../../src/a.ts"`,
    () => `find . -name x -exec sh -c 'cat ../../../src/a.ts' \\;`,
    () => `eval cd src; cat ../../../../src/a.ts`,
    () => `bash <<'EOF'\ncd src\ncat ../../../../src/a.ts\nEOF`,
    // Names whose value the text says.
    () => 'cat $PWD/../../../src/a.ts',
    () => 'cat "$(pwd)/../../../src/a.ts"',
    () => 'D=../../../src; cat $D/a.ts',
    () => 'D=src && cd "$D" && cat ../../../../src/a.ts',
    () => 'cd src; cat $OLDPWD/../../../src/a.ts',
    () => 'cd "$(git rev-parse --show-toplevel)" && cat ../../../src/a.ts',
    () => 'for d in src; do cd $d; cat ../../../../src/a.ts; done',
    () => 'cat ../../../{src,docs}/a.ts',
    // A path whose end nobody knows.
    () => 'cat ../../../src/*.ts',
    () => 'sed -i s/a/b/ ../../../src/*.ts',
    () => 'rm -rf ../../../*',
    () => 'rm -rf ../*',
    () => 'cat ../t*/a.ts',
    () => 'cp ../../../.env* .',
    () => 'npx eslint "../../../src/**/*.ts"',
    () => 'cd ../../../s* && rm a.ts',
    () => 'cd src && rm ../../../../src/*.ts',
    () => 'cat "../../../$FILE"',
    () => 'for f in a.ts b.ts; do cp "../../../src/$f" .; done',
    // The whole path, behind what ends a word before it.
    () => `npm --prefix=${root} test`,
    () => `gcc -I${root}/src a.c`,
    () => `node -e "require('${root}/src/a.ts')"`,
    () => `curl file://${root}/src/a.ts`,
  ];
  for (const command of refused) {
    it(`is not run: ${shown(command())}`, () => {
      assert.throws(
        () => run(command()),
        /^WorkspaceError: Not run: (.* is in the main checkout|where .* cannot be seen)/,
      );
    });
  }

  const unseen = [
    'cd $SOMEWHERE && cat ../x',
    'cd "$(dirname "$1")"; ls ..',
    'cat $SOMEWHERE/../x',
    'cat "$(git rev-parse --git-common-dir)/../src/a.ts"',
    'cat $(git rev-parse --git-common-dir)/../src/a.ts',
    'pushd +1 && ls ..',
    'cd ~nobody && ls ..',
    'export CDPATH=/tmp; cd src; ls ..',
  ];
  for (const command of unseen) {
    it(`is not run, since nobody can see where it leads: ${command}`, () => {
      assert.throws(
        () => run(command),
        /^WorkspaceError: Not run: where '.*' leads.* cannot be seen in the text of the command, .* Name the folder/,
      );
    });
  }

  const allowed = [
    `grep -rn '../util' src`,
    `sed -i "s#'../a'#'../b'#" src/a.ts`,
    `mkdir -p src/x && cat > src/x/b.ts <<'EOF'\nimport { a } from '../../../../src/a';\nEOF`,
    'cd src && cat ../src/a.ts',
    'npm test',
    'mkdir -p build && cd build && cmake .. && make',
    'mkdir -p build\ncd build\ncmake ..\ncd ..\nls',
    'git clone https://example.com/lib.git; cd lib; ls ..',
    'tar xf pkg-1.0.tar.gz; cd pkg-1.0; ls ..',
    '(cd src && ls ..); ls src',
    'cd src && npm install; cd .. && npm test',
    'cd src || exit 1; ls ..',
    'pushd src >/dev/null && ls .. && popd > /dev/null',
    'for d in src; do cd "$d"; ls ..; cd ..; done; ls',
    'for d in */; do (cd $d && cat ../package.json); done',
    'ls | while read -r d; do cp x "$d/../y"; done',
    'cd "$(git rev-parse --show-toplevel)" && npm test',
    'cd $(mktemp -d) && npm init -y 2>&1 | tail -3',
    'cd /tmp && ls ..',
    `echo "$HOME" \${X:-y} $((1 + 2)) "$(date)" \`date\``,
    `node -e "console.log(\`\${'a'}/../b\`)"`,
    `grep -rn "from '../util'" . | head -5 2>/dev/null`,
    `awk '{ print $1 "/../" $2 }' a.txt`,
    `git log --oneline main..HEAD -- src && git diff HEAD~1..HEAD`,
    'git -C src diff -- ..',
    'make -C src clean ../all',
    `git commit -m "go up: cd ../../.. is not needed" -m 'see ../x'`,
    'f() { cd src; ls ..; }; f',
    'case $1 in a) ls;; b) ls src;; esac',
    'if cd src; then ls ..; fi',
    'cat <<< "../../../src/a.tsx"',
    'ls src/*.ts src/*/.. */../src',
    'cd src && rm -rf ../dist/* ../*.log',
    '# cat ../../../src/a.ts\nls',
    'find src -name "*.ts" -not -path "*/../*" -print0 | xargs -0 wc -l',
    'export PATH="$PWD/node_modules/.bin:$PATH" && tsc -p .',
    'unclosed "quote $(and (paren',
    '',
  ];
  for (const command of allowed) {
    it(`is run: ${shown(command)}`, () => run(command));
  }

  const ofShortRoot = [
    ['/src', 'cat ./src/a.ts'],
    ['/src', 'cat packages/web/src/a.ts'],
    ['/src', 'git diff HEAD -- lib/src/a'],
    ['/src', 'cat "$DIR/src/a.ts" "$DIR"/src/b.ts ${DIR}/src/c.ts $(pwd)/src/d.ts ~/src/e.ts */src/f.ts'],
    ['/src', `sed -i "s,'./a','@/src/a',g" src/a.ts`],
    ['/app', 'ls src/app/x'],
    ['/app', 'npm run build --prefix packages/app'],
    ['/app', 'curl http://localhost:3000/app/users http://app/users'],
    ['/app', 'ls /application /app.js'],
    ['/main', 'git log origin/main'],
  ] as const;
  for (const [short, command] of ofShortRoot) {
    it(`is run where the workspace folder is ${short}: ${command}`, () => {
      const worktree = join(short, '.team', 'worktrees', 't1');
      refuseMainPaths(command, worktree, { root: short, checkout: worktree });
    });
  }

  for (const command of ['cat /app/a.ts', 'cp a.ts /app', 'cd "/app" && ls', 'tsc --outDir=/app/out']) {
    it(`is not run where the workspace folder is /app: ${command}`, () => {
      const at = { root: '/app', checkout: '/app/.team/worktrees/t1' };
      assert.throws(() => refuseMainPaths(command, at.checkout, at), /is in the main checkout/);
    });
  }

  it('takes no longer for a long command than for its length', () => {
    const long = 'echo "$(ls)" >> out.txt && cd src && ls .. && cd - || true\n'.repeat(3000);
    run(long);
    assert.throws(() => run(`${long}cat ../../../src/a.ts`), /is in the main checkout/);
  });

  it('is told no path below the folder of the worktrees', () => {
    assert.throws(
      () => run('cat ../t2/a.ts'),
      ({ message }: Error) => !message.includes("use '"),
    );
  });
});
