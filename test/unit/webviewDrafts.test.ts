import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DraftFiles } from '../../src/ui/webviewDrafts';

describe('DraftFiles', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'handshake-drafts-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const fail = (error: unknown): never => {
    throw error;
  };
  const files = () => new DraftFiles(join(folder, 'drafts'), fail);

  it('case 41: has the newest text back after a reload, a file a key', async () => {
    const before = files();
    for (let i = 0; i <= 500; i++) before.write('conversation', `text ${i}`);
    before.write('request-d08982e3', 'too risky');
    await before.flush();
    const after = files();
    assert.equal(await after.read('conversation'), 'text 500');
    assert.equal(await after.read('request-d08982e3'), 'too risky');
    assert.equal(await after.read('request-00000000'), '');
  });

  it('leaves no file behind for an empty draft', async () => {
    const drafts = files();
    drafts.write('a', 'x');
    await drafts.flush();
    drafts.write('a', '');
    await drafts.flush();
    assert.deepEqual(await readdir(join(folder, 'drafts')), []);
  });

  it('prefers what is typed while the file is read', async () => {
    const first = files();
    first.write('a', 'old');
    await first.flush();
    const second = files();
    const read = second.read('a');
    second.write('a', 'new');
    assert.equal(await read, 'new');
    await second.flush();
  });

  it('reports a folder that cannot be written, and keeps the text in memory', async () => {
    await writeFile(join(folder, 'drafts'), 'a file where the folder should be');
    const errors: unknown[] = [];
    const drafts = new DraftFiles(join(folder, 'drafts'), (error) => errors.push(error));
    drafts.write('a', 'text');
    await drafts.flush();
    assert.equal(errors.length, 1);
    assert.equal(await drafts.read('a'), 'text');
  });
});
