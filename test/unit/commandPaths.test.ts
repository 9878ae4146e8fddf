import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
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
    // An end of the command in a branch that may not be taken.
    () => 'npm test || { echo failed; exit 1; }; cat ../../../src/a.ts',
    () => `if ! npm test; then exit 1; fi\ncp dist/x ../../../src/a.ts`,
    () => '[ -d x ] && exit 1; cat ../../../src/a.ts',
    () => 'npm test || exit 1; cat ../../../src/a.ts',
    () => 'for i in 1; do break; done; rm ../../../src/a.ts',
    () => 'f() { return; }; cat ../../../src/a.ts',
    () => 'true && exit 0 || cat ../../../src/a.ts',
    () => 'ls | (cd src; cat ../../../../src/a.ts)',
    () => '{ cd src; } & cat ../../../src/a.ts',
    // The program itself.
    () => '../../../scripts/run.sh',
    () => './../../../node_modules/.bin/tsc',
    () => 'A=1 ../../../src/a.ts',
    // What is not there yet.
    () => 'curl -o ../../../new http://localhost',
    () => 'curl http://localhost -o../../../new',
    () => 'git clone https://example.com/x ../../../new',
    () => 'npx tsc --outDir ../../../new/dist',
    () => 'npx tsc --outDir=../../../new/dist',
    () => 'dd if=a of=../../../new',
    () => 'mkdir -p ../../../new/deep',
    () => 'cp a ../../../new/x',
    () => 'touch ../t2/new.ts',
    // Other ways to write the same.
    () => 'echo x >| ../../../src/a.ts',
    () => 'echo x 2>../../../src/errors',
    () => `cat $'../../../src/a.ts' $'it\\'s'`,
    () => 'cat $"../../../src/a.ts"',
    () => `cat \${NOPE:-../../../src/a.ts}`,
    () => 'cat .{.,}/../../src/a.ts',
    () => 'cat {../../../src/a.ts,}',
    // What only looks like a here-document, and one that a shell reads.
    () => `x=$((1<<X))\ncat ../../../src/a.ts\nX`,
    () => `echo "<<X"\ncat ../../../src/a.ts\nX`,
    () => `# <<X\ncat ../../../src/a.ts\nX`,
    () => `cat <<X\nX\ncat ../../../src/a.ts`,
    () => `cat <<-X\n\tX\ncat ../../../src/a.ts`,
    () => `cat <<X\ncat ../../../src/a.ts`,
    () => `cat <<EOF | sh\ncat ../../../src/a.ts\nEOF`,
    () => `echo 'cat ../../../src/a.ts' | bash -e`,
    () => 'sh <<< "cat ../../../src/a.ts"',
    () => `sudo bash <<'EOF'\ncat ../../../src/a.ts\nEOF`,
    () => `python3 - <<'EOF'\nopen('${root}/src/a.ts').read()\nEOF`,
    // Where a pattern is expected, only the pattern is none.
    () => 'grep -rn "../../../src" ../../../src',
    () => 'grep -e x ../../../src/a.ts',
    () => 'grep 42 ../../../src/a.ts',
    () => 'grep -f ../../../src/a.ts src/a.ts',
    () => 'rg --files ../../../src',
    () => `sed -i 's,a,b,' ../../../src/a.ts`,
    () => 'find . | xargs grep x ../../../src/a.ts',
    () => 'git grep x -- ../../../src',
    () => 'git commit -m x ../../../src/a.ts',
    () => 'ln -s ../../../src/a.ts a.ts',
    () => 'ln -s ../../../../src src/main',
    () => 'ln -s a.ts ../../../src/b.ts',
    // By what a substitution says.
    () => 'cd "$(git rev-parse --show-toplevel)/src" && cat ../../../../src/a.ts',
    () => 'F=src/a.ts; cat "$(dirname "$F")/../../../../src/a.ts"',
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
    // Patterns and messages are no paths, and the target of a link is relative to the link.
    'grep -rn "../../../src" src',
    'grep -rn -A 3 "../../../src" src',
    'grep -rne "../../../src" src',
    `rg -g '*.ts' '../../../src/a.ts' src`,
    'git grep -n -e "../../../src"',
    'git grep "../../../src" -- src',
    'git ls-files | xargs grep -l "../../../src"',
    'find src -name "*.ts" -exec grep -l "../../../src" {} \\;',
    'sed -i "s,../../../src,@/src,g" src/a.ts',
    `sed -i '' 's,../../../src,@/src,g' src/a.ts`,
    `find src -name '*.ts' -print0 | xargs -0 sed -i -e 's,../../../src,@/src,g'`,
    `perl -pi -e 's{../../../src}{@/src}g' src/a.ts`,
    'git commit -m ../../../src',
    `git commit -am "../../../src moved" && git log --oneline -S '../../../src'`,
    'ln -s ../../../package.json src/deep/er/pkg.json',
    'ln -sfn ../src src/self',
    'ln -s ../src/a.ts src/',
    'test -f ../../missing || echo no',
    'npm install --save-dev ../lib/util',
    // Folders that a substitution gives, and those below one that nobody knows.
    'cd "$(git rev-parse --show-toplevel)/src" && cat ../package.json',
    'cd $(git rev-parse --show-toplevel 2>/dev/null)/src && cat ../package.json',
    'ROOT=$(git rev-parse --show-toplevel); cd $ROOT/src && ls ..',
    'cd $(pwd -P)/src && ls ..',
    'cd "$(mktemp -d)" && mkdir b && cd b && cmake ..',
    'tmp=$(mktemp -d) && cd $tmp && git init a && cd a && ls ..',
    'cd $SOMEWHERE && mkdir build && cd build && cmake ..',
    'F=src/a.ts; cat "$(dirname "$F")/../package.json"',
    'for f in src/*.ts; do d=$(dirname $f); (cd $d/.. && ls); done',
    `cat \${X:-src}/../package.json; Y=src/; cat \${Y%/}/../package.json`,
    // An end behind a `||` is one.
    'cd missing || exit 1; ls ..',
    'cd missing || { echo "no such folder" >&2; exit 1; }; ls ..',
    'cd missing || { echo no; exit 1; }\nls ..\n',
    'for d in src; do cd $d || continue; ls ..; cd ..; done; ls src',
    // What here-documents hold is no command.
    `cat <<\\EOF > x\ncat ../../../src/a.ts\nEOF\nls`,
    `cat <<'END-OF' > x\ncat ../../../src/a.ts\nEND-OF\nls`,
    `cat <<-'EOF' > x\n\tcat ../../../src/a.ts\n\tEOF\nls`,
    `cat <<A <<B\n../../../src\nA\n../../../src\nB\nls`,
    `git commit -m "$(cat <<'EOF'\nDon't look into ../../../src (or "../t2\n\ncat ../../../src/a.ts\nEOF\n)" && ls`,
    'find . -name "*.tmp" -exec rm {} \\; && echo { a } | tee x',
    // Everyday ones of several parts.
    `while IFS= read -r f; do sed -i 's#../../../src#@/src#' "$f"; done < <(grep -rl '../../../src' src)`,
    `for f in $(git ls-files '*.ts'); do grep -q "../../../src" "$f" && echo "$f"; done`,
    `python3 - <<'PY'\nimport re\nprint(re.sub("'../../../src", "'@/src", open('src/a.ts').read()))\nPY`,
    `cat > run.sh <<'EOF'\ncd "$(dirname "$0")/.." || exit 1\nls ../../../src\nEOF\nchmod +x run.sh && ./run.sh`,
    `case "$1" in -h|--help) echo help;; *) ls;; esac; ls`,
    '{ npm test; } 2>&1 | tee log.txt; x=$((x << 1)); echo {a,b}/{c,d} $x',
    'npx prettier --write "src/**/*.{ts,tsx}" && cat /usr/lib/*/../os-release',
    'PYTHONPATH=src:. pytest -q; cd src && PYTHONPATH=.. pytest',
    `curl -X POST http://localhost/api/../health -d '{"path": "../../../src"}'`,
    'git diff main...HEAD -- src ":(exclude)*.lock" && git show HEAD:./src/../package.json',
    'unclosed "quote $(and (paren',
    '',
  ];
  for (const command of allowed) {
    it(`is run: ${shown(command)}`, () => run(command));
  }

  it('is not run where it goes above the main checkout and names it from there', () => {
    const [above, name] = [dirname(root), basename(root)];
    for (const command of [`cd ${above} && cat ${name}/src/a.ts`, `git -C ${above} -C ${name} status`]) {
      assert.throws(() => run(command), /is in the main checkout/);
    }
    run(`cd ${above} && ls && cat other/a.ts`);
  });

  const ofShortRoot = [
    ['/src', 'cat ./src/a.ts'],
    ['/src', 'cat packages/web/src/a.ts'],
    ['/src', 'git diff HEAD -- lib/src/a'],
    ['/src', `cat "$DIR/src/a.ts" "$DIR"/src/b.ts \${DIR}/src/c.ts $(pwd)/src/d.ts ~/src/e.ts */src/f.ts`],
    ['/src', 'cat packages/{a,b}/src/index.ts'],
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

  it('is run where the workspace folder is /app and a file of the work names it', () => {
    const at = { root: '/app', checkout: '/app/.team/worktrees/t1' };
    for (const command of [
      `cat > Dockerfile <<'EOF'\nWORKDIR /app\nCOPY . /app\nEOF`,
      `git commit -F - <<'EOF'\nServe /app/users\nEOF`,
      `grep -rn "'/app/users'" src`,
      'echo "WORKDIR /app" >> Dockerfile',
    ]) {
      refuseMainPaths(command, at.checkout, at);
    }
  });

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
