import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmod,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNodeWorkspace } from '../../src/workspace/node';
import { type MemberWorkspace, type Workspace, WorkspaceError } from '../../src/workspace/port';

function refused(promise: Promise<unknown>, pattern: RegExp): Promise<void> {
  return assert.rejects(promise, (error) => {
    assert.ok(error instanceof WorkspaceError, String(error));
    assert.match(error.message, pattern);
    return true;
  });
}

describe('workspace files', function () {
  this.timeout(30_000);

  let base: string;
  let root: string;
  let outside: string;
  let workspace: Workspace;
  let alice: MemberWorkspace;

  beforeEach(async () => {
    base = await realpath(await mkdtemp(join(tmpdir(), 'handshake-files-')));
    root = join(base, 'work');
    outside = join(base, 'outside');
    await mkdir(root);
    await mkdir(outside);
    workspace = createNodeWorkspace(root);
    alice = workspace.forMember('alice');
  });
  afterEach(async () => {
    await rm(base, { recursive: true, force: true });
  });

  const put = (name: string, content: string | Buffer) => writeFile(join(root, name), content);
  const bytes = (name: string) => readFile(join(root, name));
  const text = (name: string) => readFile(join(root, name), 'utf8');

  describe('containment', () => {
    it('case 38: refuses a folder and a dangling link that lead out, by their real target', async () => {
      await symlink(outside, join(root, 'out'));
      await symlink(join(outside, 'new'), join(root, 'n.md'));
      await refused(alice.writeFile('out/f', 'x'), /outside the workspace \(it leads to .*outside\/f\)/);
      await refused(alice.writeFile('n.md', 'x'), /outside the workspace \(it leads to .*outside\/new\)/);
      await refused(alice.previewWrite('n.md', 'x'), /outside the workspace/);
      await refused(alice.readFile('out/f'), /outside the workspace/);
      await refused(alice.writeFile('out/deep/er/f', 'x'), /outside the workspace/);
      assert.deepEqual(await readdir(outside), []);
    });

    it('case 38: also through chains of links, some of them dangling', async () => {
      await symlink('second', join(root, 'first'));
      await symlink('out/third', join(root, 'second'));
      await symlink(outside, join(root, 'out'));
      await refused(alice.writeFile('first', 'x'), /outside the workspace/);
      await refused(alice.writeFile('first/below', 'x'), /outside the workspace/);
      await symlink('loop', join(root, 'loop'));
      await refused(alice.readFile('loop'), /links lead in a circle/);
      assert.deepEqual(await readdir(outside), []);
    });

    it('refuses .. and absolute paths that leave, takes those that do not', async () => {
      await writeFile(join(outside, 'secret'), 'secret');
      await refused(alice.readFile('../outside/secret'), /outside the workspace\. Use a path inside/);
      await refused(alice.readFile(join(outside, 'secret')), /outside the workspace/);
      await refused(alice.writeFile('a/../../outside/secret', 'x'), /outside the workspace/);
      // A sibling whose name begins like the workspace's, and a name that begins with two dots.
      await mkdir(`${root}2`);
      await refused(alice.writeFile(`${root}2/f`, 'x'), /outside the workspace/);
      await alice.writeFile('..hidden', 'x');
      await alice.writeFile(join(root, 'sub', '..', 'abs.txt'), 'abs');
      assert.equal(await text('abs.txt'), 'abs');
      assert.equal(await alice.readFile('./sub/../abs.txt'), 'abs');
    });

    it('writes through a link inside the workspace and keeps the link', async () => {
      await mkdir(join(root, 'real'));
      await put('real/a.txt', 'old');
      await symlink('real/a.txt', join(root, 'a.txt'));
      await symlink('real/new.txt', join(root, 'dangling.txt'));
      await alice.readFile('a.txt');
      await alice.writeFile('real/a.txt', 'new');
      await alice.editFile('a.txt', 'new', 'newer');
      await alice.writeFile('dangling.txt', 'made');
      assert.equal(await text('real/a.txt'), 'newer');
      assert.equal(await text('real/new.txt'), 'made');
      assert.equal(await readlink(join(root, 'a.txt')), 'real/a.txt');
    });

    it('does not change a file outside that shares its content by a hard link', async () => {
      await writeFile(join(outside, 'shared'), 'old');
      await link(join(outside, 'shared'), join(root, 'shared'));
      await alice.editFile('shared', 'old', 'new');
      assert.equal(await readFile(join(outside, 'shared'), 'utf8'), 'old');
      assert.equal(await text('shared'), 'new');
    });

    it('works where the workspace itself is named through a link', async () => {
      await symlink(root, join(base, 'link'));
      const linked = createNodeWorkspace(join(base, 'link'));
      assert.equal(linked.root, root);
      await linked.forMember('bob').writeFile(join(base, 'link', 'f'), 'x');
      assert.equal(await text('f'), 'x');
    });

    it('protects .git and .team from writing, in any spelling, and lets them be read', async () => {
      await mkdir(join(root, '.git', 'hooks'), { recursive: true });
      await put('.git/config', 'c');
      await mkdir(join(root, '.team', 'inbox'), { recursive: true });
      await put('.team/config.json', '{}');
      await symlink('.git', join(root, 'alias'));
      const paths = [
        '.git/hooks/pre-commit',
        '.GIT/config',
        'alias/config',
        'sub/.git/config',
        '.git',
        '.git./config',
      ];
      for (const path of paths) await refused(alice.writeFile(path, 'x'), /belongs to git/);
      await refused(alice.editFile('.git/config', 'c', 'd'), /belongs to git/);
      for (const path of ['.team/inbox/bob.jsonl', '.Team/config.json', './x/../.team/config.json']) {
        await refused(alice.writeFile(path, 'x'), /state of the team/);
      }
      assert.equal(await alice.readFile('.git/config'), 'c');
      assert.equal(await alice.readFile('.team/config.json'), '{}');
      await alice.writeFile('.gitignore', 'x');
      await alice.writeFile('docs/.team/x', 'x');
    });

    it('explains impossible paths', async () => {
      await put('file', 'x');
      await mkdir(join(root, 'folder'));
      await refused(alice.readFile(''), /path is empty/);
      await refused(alice.readFile('a\0b'), /NUL character/);
      await refused(alice.readFile('none'), /'none': it does not exist/);
      await refused(alice.editFile('none', 'a', 'b'), /'none': it does not exist/);
      await refused(alice.readFile('file/below'), /'file\/below': a part of the path is a file/);
      await refused(alice.writeFile('file/below', 'x'), /a part of the path is a file/);
      await refused(alice.readFile('folder'), /it is a folder/);
      await refused(alice.writeFile('folder', 'x'), /it is a folder/);
      await refused(alice.writeFile('.', 'x'), /it is a folder/);
      await refused(alice.writeFile('x'.repeat(300), 'x'), /name is too long/);
    });

    it('does not hang on a named pipe', async () => {
      execFileSync('mkfifo', [join(root, 'pipe')]);
      await refused(alice.readFile('pipe'), /not a regular file/);
      await refused(alice.writeFile('pipe', 'x'), /not a regular file/);
    });

    it('refuses a workspace that is no folder', async () => {
      await put('file', 'x');
      assert.throws(() => createNodeWorkspace(join(root, 'file')), WorkspaceError);
      assert.throws(() => createNodeWorkspace(join(root, 'none')), /'.*none': it does not exist/);
      assert.throws(() => createNodeWorkspace(''), /No folder is open/);
    });
  });

  describe('readFile', () => {
    it('gives text as it is, without a byte order mark', async () => {
      await put('a', '\ufeffone\r\ntwo \ufeff é\n');
      assert.equal(await alice.readFile('a'), 'one\r\ntwo \ufeff é\n');
      await put('empty', '');
      assert.equal(await alice.readFile('empty'), '');
    });

    it('gives lines from an offset, up to a limit, and says how to go on', async () => {
      await put('a', '1\n2\n3\n4\n5');
      assert.equal(
        await alice.readFile('a', { offset: 2, limit: 2 }),
        '2\n3\n[lines 2 to 3 of 5 are shown; go on with offset 4]',
      );
      assert.equal(await alice.readFile('a', { offset: 4 }), '4\n5');
      assert.equal(await alice.readFile('a', { limit: 5 }), '1\n2\n3\n4\n5');
      await refused(alice.readFile('a', { offset: 6 }), /it has 5 lines/);
      await refused(alice.readFile('a', { offset: 0 }), /offset must be a whole number from 1/);
      await refused(alice.readFile('a', { limit: 1.5 }), /limit must be/);
    });

    it('bounds what it returns, also within one long line', async () => {
      await put('many', `${'x'.repeat(1023)}\n`.repeat(300));
      const many = await alice.readFile('many');
      assert.match(many, /\n\[lines 1 to 256 of 300 are shown; go on with offset 257\]$/);
      await put('long', '😀'.repeat(200_000));
      const long = await alice.readFile('long');
      assert.ok(long.length < 263_000);
      assert.match(long, /^(😀)+\n\[line 1 is 400000 characters long; only its start is shown\]$/u);
    });

    it('leads through a file of long lines', async () => {
      await put('rows', `${'a'.repeat(300_000)}\n${'b'.repeat(10)}\n${'c'.repeat(300_000)}`);
      const first = await alice.readFile('rows');
      assert.match(
        first,
        /^a+\n\[line 1 is 300001 characters long; only its start is shown; lines 1 to 1 of 3 are shown; go on with offset 2\]$/,
      );
      assert.match(
        await alice.readFile('rows', { offset: 2 }),
        /^b+\n\[lines 2 to 2 of 3 are shown; go on with offset 3\]$/,
      );
      assert.match(
        await alice.readFile('rows', { offset: 3 }),
        /^c+\n\[line 3 is 300000 characters long; only its start is shown\]$/,
      );
    });

    it('refuses binary and UTF-16 files by name, and marks other encodings', async () => {
      await put('image.png', Buffer.from([0x89, 0x50, 0, 1]));
      await refused(alice.readFile('image.png'), /'image\.png' is a binary file \(4 bytes\)/);
      await put('wide.txt', Buffer.from('\ufeffhi', 'utf16le'));
      await refused(alice.readFile('wide.txt'), /'wide\.txt' is UTF-16/);
      await put('latin.txt', Buffer.from('caf\u00e9\n', 'latin1'));
      assert.equal(
        await alice.readFile('latin.txt'),
        'caf\ufffd\n[not UTF-8: bytes that are no text are shown as \ufffd]',
      );
    });

    it('refuses a file that is too large to hold', async () => {
      await put('huge', '');
      execFileSync('truncate', ['-s', '40M', join(root, 'huge')]);
      await refused(alice.readFile('huge'), /'huge' whole: it has 41943040 bytes/);
    });
  });

  describe('writeFile', () => {
    it('makes files and folders, and says what it did', async () => {
      assert.equal(await alice.writeFile('a/b/c.txt', 'é\n'), 'Wrote 3 bytes to a/b/c.txt');
      assert.equal(await text('a/b/c.txt'), 'é\n');
      assert.deepEqual(await readdir(join(root, 'a/b')), ['c.txt']);
    });

    it('case 37: refuses a file that changed since it was read, at the same size and time', async () => {
      await put('a', 'aaaa');
      const { atime, mtime } = await stat(join(root, 'a'));
      await alice.readFile('a');
      await put('a', 'bbbb');
      await utimes(join(root, 'a'), atime, mtime);
      await refused(alice.writeFile('a', 'cccc'), /changed since you read it\. Read it again/);
      await refused(alice.editFile('a', 'bbbb', 'cccc'), /Read it again/);
      await refused(alice.previewWrite('a', 'cccc'), /Read it again/);
      assert.equal(await text('a'), 'bbbb');
      await alice.readFile('a');
      await alice.writeFile('a', 'cccc');
    });

    it('case 37: does not trip over the own writes of the member', async () => {
      await alice.writeFile('a', '1');
      await alice.writeFile('a', '2');
      await alice.editFile('a', '2', '3');
      await alice.writeFile('a', '4');
      assert.equal(await text('a'), '4');
    });

    it('refuses to write a file that the member has not read, though another has', async () => {
      await put('a', 'old');
      await workspace.forMember('bob').readFile('a');
      await refused(alice.writeFile('a', 'new'), /you have not read it\. Read it first/);
      await alice.editFile('a', 'old', 'edited');
      await refused(alice.writeFile('a', 'new'), /you have not read it/);
      await put('empty', '');
      await alice.writeFile('empty', 'an empty file has nothing to lose');
    });

    it('lets one of two members that write at once win, and tells the other', async () => {
      await put('a', 'old');
      const members = ['bob', 'carol', 'dave'].map((name) => workspace.forMember(name));
      await Promise.all(members.map((member) => member.readFile('a')));
      const results = await Promise.allSettled(members.map((member, n) => member.writeFile('a', `by ${n}`)));
      assert.deepEqual(results.map((result) => result.status).sort(), ['fulfilled', 'rejected', 'rejected']);
      const winner = results.findIndex((result) => result.status === 'fulfilled');
      assert.equal(await text('a'), `by ${winner}`);
      await Promise.all(
        Array.from({ length: 20 }, async (_, n) => {
          await put(`n${n}`, 'x');
        }),
      );
      await put('lines', Array.from({ length: 20 }, (_, n) => `line <${n}>\n`).join(''));
      await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          workspace.forMember(`m${n}`).editFile('lines', `<${n}>`, `done ${n};`),
        ),
      );
      assert.equal(await text('lines'), Array.from({ length: 20 }, (_, n) => `line done ${n};\n`).join(''));
    });

    it('lets one of two members that make a file at once win', async () => {
      const results = await Promise.allSettled(
        ['bob', 'carol'].map((name) => workspace.forMember(name).writeFile('fresh', name)),
      );
      assert.deepEqual(results.map((result) => result.status).sort(), ['fulfilled', 'rejected']);
    });

    it('keeps permissions and the byte order mark, and refuses read-only and binary files', async () => {
      await put('run.sh', '\ufeffecho\n');
      await chmod(join(root, 'run.sh'), 0o751);
      await alice.readFile('run.sh');
      await alice.writeFile('run.sh', 'exit\n');
      assert.equal((await stat(join(root, 'run.sh'))).mode & 0o7777, 0o751);
      assert.equal(await text('run.sh'), '\ufeffexit\n');
      await chmod(join(root, 'run.sh'), 0o444);
      await refused(alice.writeFile('run.sh', 'x'), /read-only/);
      await put('bin', Buffer.from([0, 1]));
      await refused(alice.writeFile('bin', 'x'), /binary/);
      await refused(alice.writeFile('new', 'a\ud800b'), /half of a character/);
      assert.deepEqual(await readdir(root), ['bin', 'run.sh']);
    });
  });

  describe('editFile', () => {
    it('case 35: leaves every other byte as it is', async () => {
      await put('a', 'a\r\nb\nc');
      assert.equal(await alice.editFile('a', 'b', 'bb'), 'Edited a');
      assert.equal(await text('a'), 'a\r\nbb\nc');
    });

    it('case 35: takes \\n for the line ends of the file and keeps those', async () => {
      await put('a', '\ufeffone\r\ntwo\r\nthree\nfour\r\n');
      await alice.editFile('a', 'two\nthree\nfour', 'two\n2.5\nthree\nFOUR');
      assert.equal(await text('a'), '\ufeffone\r\ntwo\r\n2.5\nthree\nFOUR\r\n');
      await alice.editFile('a', 'one', 'zero\none');
      assert.equal(await text('a'), '\ufeffzero\r\none\r\ntwo\r\n2.5\nthree\nFOUR\r\n');
      await alice.editFile('a', '\nthree', '');
      assert.equal(await text('a'), '\ufeffzero\r\none\r\ntwo\r\n2.5\nFOUR\r\n');
      await alice.editFile('a', 'zero\none\n', '');
      assert.equal(await text('a'), '\ufefftwo\r\n2.5\nFOUR\r\n');
      await alice.editFile('a', 'two\r\n2.5', 'x\r\ny');
      assert.equal(await text('a'), '\ufeffx\r\ny\nFOUR\r\n');
    });

    it('extends a last line without a newline with the line end of the file', async () => {
      await put('a', 'one\r\ntwo');
      await alice.editFile('a', 'two', 'two\nthree');
      assert.equal(await text('a'), 'one\r\ntwo\r\nthree');
    });

    it('case 36: refuses ambiguity with the count, empty texts, and takes new text literally', async () => {
      await put('a', 'x\nx\nx');
      await refused(alice.editFile('a', 'x\nx', 'y'), /occurs 2 times/);
      await refused(alice.editFile('a', 'x', 'y'), /occurs 3 times/);
      await refused(alice.previewEdit('a', 'x', 'y'), /occurs 3 times/);
      await refused(alice.editFile('a', '', 'y'), /old_text is empty/);
      await refused(alice.editFile('a', 'z', 'y'), /was not found/);
      await refused(alice.editFile('a', 'x\nx\nx', 'x\nx\nx'), /the same/);
      assert.equal(await text('a'), 'x\nx\nx');
      const literal = "$& $$ $1 $` $'";
      await alice.editFile('a', 'x\nx\nx', literal);
      assert.equal(await text('a'), literal);
    });

    it('sees a passage that occurs with both line ends as ambiguous', async () => {
      await put('a', 'k\nv;k\r\nv');
      await refused(alice.editFile('a', 'k\nv', 'z'), /occurs 2 times/);
      await alice.editFile('a', 'k\r\nv', 'z');
      assert.equal(await text('a'), 'k\nv;z');
    });

    it('does not mangle a file of another encoding, or a character', async () => {
      const latin = Buffer.from('caf\u00e9 x\n', 'latin1');
      await put('latin', latin);
      await refused(alice.editFile('latin', 'x', 'y'), /not UTF-8/);
      assert.deepEqual(await bytes('latin'), latin);
      await put('smile', '😀');
      await refused(alice.editFile('smile', '\ud83d', 'x'), /half of a character/);
      await alice.editFile('smile', '😀', '😁');
      assert.equal(await text('smile'), '😁');
    });
  });

  describe('previews', () => {
    it('shows a new file and an edit as unified diffs and changes nothing', async () => {
      assert.equal(
        await alice.previewWrite('src/new.ts', 'one\ntwo'),
        '--- /dev/null\n+++ b/src/new.ts\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n',
      );
      await put('a', '1\n2\n3\n4\n5\n6\n7\n8\n9\n');
      assert.equal(
        await alice.previewEdit('a', '5', 'five'),
        '--- a/a\n+++ b/a\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n',
      );
      assert.deepEqual(await readdir(root), ['a']);
      assert.match(await text('a'), /5/);
    });

    it('makes patches that apply, also where too much differs for the smallest one', async () => {
      const lines = (from: number, mark: string) =>
        Array.from({ length: 1500 }, (_, n) => `${mark}${from + n}\n`).join('');
      const before = `head\n1\n2\n3\n${lines(0, 'old')}tail\n`;
      const after = `head\n1\n2\n3\n${lines(0, 'new')}tail`;
      await put('a', before);
      await alice.readFile('a');
      const patch = await alice.previewWrite('a', after);
      assert.match(patch, /^--- a\/a\n\+\+\+ b\/a\n@@ -2,1504 \+2,1504 @@\n 1\n/);
      execFileSync('git', ['apply', '-'], { cwd: root, input: patch });
      assert.equal(await text('a'), after);
    });

    it('does not compute a view of a huge change', async () => {
      await put('a', 'x\n'.repeat(1_500_000));
      await alice.readFile('a');
      assert.match(
        await alice.previewWrite('a', 'y'),
        /\[too large for a line by line view: 1500000 lines become 1 lines\]/,
      );
    });
  });
});
