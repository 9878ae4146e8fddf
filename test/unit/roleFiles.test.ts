import * as assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import { problemPlace, type RoleList } from '../../src/protocol';
import { readRoles } from '../../src/workspace/roleFiles';
import { RoleTextError, readRoleText } from '../../src/workspace/roleText';

const file = (fields: string, body = 'Work well.') => `---\n${fields}\n---\n\n${body}\n`;

async function refused(text: string): Promise<string> {
  try {
    await readRoleText(text);
  } catch (error) {
    assert.ok(error instanceof RoleTextError);
    return `${error.line ?? '-'}: ${error.message}`;
  }
  assert.fail(`taken: ${text}`);
}

describe('the text of a role file', () => {
  it('is front matter and instructions, with any line end and a mark before it', async () => {
    const text = file(
      'name: reviewer\ndescription: Looks at changes\ntools: Read, Grep\nmodel: big',
      'A.\n\nB.',
    );
    const role = {
      name: 'reviewer',
      description: 'Looks at changes',
      tools: ['Read', 'Grep'],
      model: 'big',
      instructions: 'A.\n\nB.',
    };
    for (const written of [text, text.replaceAll('\n', '\r\n'), `\ufeff${text}`]) {
      assert.deepEqual(await readRoleText(written), role);
    }
  });

  it('may hold lists, quoted texts and texts of several lines', async () => {
    const fields = [
      'name: "test writer"',
      'description: >-',
      '  Writes tests.',
      '  Use it: often.',
      'tools:',
      '  - Read   # to look',
      "  - 'Bash(npm test:*, npm run lint)'",
      'color: blue',
    ].join('\n');
    const role = await readRoleText(file(fields));
    assert.equal(role.name, 'test writer');
    assert.equal(role.description, 'Writes tests. Use it: often.');
    assert.deepEqual(role.tools, ['Read', 'Bash(npm test:*, npm run lint)']);
    assert.deepEqual((await readRoleText(file('name: a\ntools: Bash(x, y), Read'))).tools, [
      'Bash(x, y)',
      'Read',
    ]);
    assert.deepEqual((await readRoleText(file('name: a\ntools: []'))).tools, []);
    assert.equal('tools' in (await readRoleText(file('name: a'))), false);
  });

  it('may have a plain text with a colon in it, which other tools take', async () => {
    const role = await readRoleText(
      file('name: a\ndescription: Use this when: it is late\\n"and" so on\ntools: Read'),
    );
    assert.equal(role.description, 'Use this when: it is late\\n"and" so on');
    assert.deepEqual(role.tools, ['Read']);
  });

  it('says in which line it cannot be read', async () => {
    assert.match(await refused('Just text.'), /^1: it does not begin with front matter/);
    assert.match(await refused('---\nname: a\n'), /^1: the front matter has no end/);
    assert.match(await refused(file('name: a\nmodel: "unclosed')), /^[34]: /);
    assert.match(await refused(file('name: a\nname: b')), /^3: .*unique/);
    assert.match(await refused(file('description: d')), /^1: it needs a 'name'/);
    assert.match(await refused(file('description: d\nname: [x]')), /^3: it needs a 'name'/);
    assert.match(await refused(file('name: ../../x')), /^2: it needs a 'name'/);
    assert.match(await refused(file('name: a\ntools:\n  Read: yes')), /^3: 'tools' has to be a list/);
    assert.match(await refused(file('name: a\ntools:')), /^3: 'tools'/);
    assert.match(await refused(file('- a\n- b')), /^2: the front matter holds no fields/);
    assert.match(await refused(file('name: a', '')), /^3: there are no instructions/);
  });

  it('is no bomb, and no code', async () => {
    const bomb = ['a: &a [x,x,x,x,x,x,x,x,x]'];
    for (let i = 1; i < 9; i++) {
      const [before, now] = [String.fromCharCode(96 + i), String.fromCharCode(97 + i)];
      bomb.push(`${now}: &${now} [${`*${before},`.repeat(9)}]`);
    }
    assert.match(await refused(file([...bomb, 'name: x'].join('\n'))), /^2: .*alias/i);
    assert.equal((await readRoleText(file('name: a\ndescription: !!js/function "x"'))).description, 'x');
    assert.equal((await readRoleText(file('name: a\n__proto__: {x: 1}'))).name, 'a');
  });
});

describe('the role files of a workspace', () => {
  let home: string;
  let root: string;

  beforeEach(async () => {
    home = await fs.mkdtemp(path.join(await fs.realpath(os.tmpdir()), 'roles ä-'));
    root = path.join(home, 'w');
    await fs.mkdir(path.join(root, '.claude', 'agents'), { recursive: true });
    await fs.mkdir(path.join(root, '.handshake', 'agents'), { recursive: true });
  });
  afterEach(() => fs.rm(home, { recursive: true, force: true }));

  const put = (name: string, text: string | Buffer) => fs.writeFile(path.join(root, name), text);
  const said = ({ problems }: RoleList) => problems.map((p) => `${problemPlace(p)}: ${p.text}`);

  it('are read by name, and a folder that is not there holds none', async () => {
    assert.deepEqual(await readRoles(path.join(home, 'nowhere')), { roles: [], problems: [] });
    await put('.claude/agents/b.md', file('name: zed'));
    await put('.claude/agents/a.md', file('name: abe', 'Mine.'));
    await put('.claude/agents/notes.txt', 'no');
    const list = await readRoles(root);
    assert.deepEqual(list.problems, []);
    assert.deepEqual(
      list.roles.map((role) => [role.name, role.file, role.instructions]),
      [
        ['abe', '.claude/agents/a.md', 'Mine.'],
        ['zed', '.claude/agents/b.md', 'Work well.'],
      ],
    );
  });

  it('of one name: that of .handshake goes first, then the first file, and it is said', async () => {
    await put('.claude/agents/x.md', file('name: Coder', 'Theirs.'));
    await put('.handshake/agents/y.md', file('name: coder', 'Ours.'));
    await put('.handshake/agents/z.md', file('name: CODER', 'Late.'));
    const list = await readRoles(root);
    assert.deepEqual(
      list.roles.map((role) => role.instructions),
      ['Ours.'],
    );
    assert.deepEqual(said(list), [
      ".handshake/agents/z.md: 'CODER' is taken from .handshake/agents/y.md",
      ".claude/agents/x.md: 'Coder' is taken from .handshake/agents/y.md",
    ]);
    assert.ok(list.problems.every(({ shadowed }) => shadowed));
  });

  it('that cannot be used keep no other from it, and each is named', async () => {
    await put('.claude/agents/good.md', file('name: good'));
    await put('.claude/agents/bad.md', file('name: a\n b: [', 'x'));
    await put('.claude/agents/large.md', file('name: large', 'x'.repeat(70_000)));
    await put('.claude/agents/bytes.md', Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0xfe]));
    await fs.mkdir(path.join(root, '.claude/agents/folder.md'));
    execFileSync('mkfifo', [path.join(root, '.claude/agents/pipe.md')]);
    const list = await readRoles(root);
    assert.deepEqual(
      list.roles.map(({ name }) => name),
      ['good'],
    );
    const text = said(list).join('\n');
    assert.match(text, /^\.claude\/agents\/bad\.md:[23]: /m);
    assert.match(text, /^\.claude\/agents\/large\.md: it has \d+ bytes; a role file may have 65536$/m);
    assert.match(text, /^\.claude\/agents\/bytes\.md: it is not UTF-8 text$/m);
    assert.match(text, /^\.claude\/agents\/folder\.md: it is not a regular file$/m);
    assert.match(text, /^\.claude\/agents\/pipe\.md: it is not a regular file$/m);
    assert.equal(list.problems.length, 5);
  });

  it('are followed through no link that leads out of the workspace', async () => {
    await fs.writeFile(path.join(home, 'secret.md'), file('name: secret', 'Out.'));
    await fs.symlink(path.join(home, 'secret.md'), path.join(root, '.claude/agents/out.md'));
    await put('inside.md', file('name: inside'));
    await fs.symlink('../../inside.md', path.join(root, '.claude/agents/in.md'));
    const list = await readRoles(root);
    assert.deepEqual(
      list.roles.map(({ name, file }) => [name, file]),
      [['inside', '.claude/agents/in.md']],
    );
    assert.match(said(list).join('\n'), /out\.md: .*outside the workspace/);
    await fs.rm(path.join(root, '.handshake'), { recursive: true });
    await fs.mkdir(path.join(home, 'elsewhere/agents'), { recursive: true });
    await fs.writeFile(path.join(home, 'elsewhere/agents/o.md'), file('name: o'));
    await fs.symlink(path.join(home, 'elsewhere'), path.join(root, '.handshake'));
    const again = await readRoles(root);
    assert.equal(again.roles.length, 1);
    assert.match(said(again).join('\n'), /\.handshake\/agents: .*outside the workspace/);
  });
});
