import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  atomicWriteFile,
  type Damage,
  ensureTeamFolder,
  StorageError,
  TranscriptFile,
} from '../../src/store';
import { FaultyFileSystem } from './storeFaults';

describe('store files', function () {
  this.timeout(30_000);

  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'handshake-store-'));
  });
  afterEach(async () => {
    await rm(dir, { recursive: true, force: true });
  });

  describe('atomicWriteFile', () => {
    it('makes and replaces a file and leaves nothing beside it', async () => {
      const path = join(dir, 'config.json');
      await atomicWriteFile(path, 'one');
      await atomicWriteFile(path, Buffer.from('two'), { sync: false, mode: 0o600 });
      assert.equal(await readFile(path, 'utf8'), 'two');
      assert.equal((await stat(path)).mode & 0o777, 0o600);
      assert.deepEqual(await readdir(dir), ['config.json']);
    });

    it('keeps the old content whichever operation fails, and says what to do', async () => {
      const plain = new FaultyFileSystem();
      await atomicWriteFile('d/f', 'new', { fileSystem: plain });
      for (const code of ['ENOSPC', 'EACCES', 'EROFS', 'EIO', 'ENOTDIR']) {
        for (let failing = 0; failing < plain.operations.length; failing += 1) {
          const fileSystem = new FaultyFileSystem();
          fileSystem.put('d/f', 'old');
          fileSystem.fault = (_, index) => (index === failing ? { kind: 'fails', code } : undefined);
          await assert.rejects(atomicWriteFile('d/f', 'new', { fileSystem }), (error) => {
            assert.ok(error instanceof StorageError);
            assert.equal(error.code, code);
            assert.match(error.message, /^Could not write d\/f: .*\. ?.*\./);
            return true;
          });
          const replaced = plain.operations[failing]?.name === 'syncDirectory';
          assert.equal(fileSystem.text('d/f'), replaced ? 'new' : 'old');
          assert.deepEqual([...fileSystem.files.keys()], ['d/f']);
        }
      }
    });

    it('says which unfinished copy it could not remove', async () => {
      const fileSystem = new FaultyFileSystem();
      fileSystem.fault = (operation) =>
        operation.name === 'write' || operation.name === 'unlink'
          ? { kind: 'fails', code: 'EIO' }
          : undefined;
      await assert.rejects(
        atomicWriteFile('d/f', 'new', { fileSystem }),
        /unfinished copy d\/\.f\.[0-9a-f]+\.tmp/,
      );
    });

    it('handles short writes', async () => {
      const fileSystem = new FaultyFileSystem();
      fileSystem.fault = () => ({ kind: 'short', bytes: 2 });
      await atomicWriteFile('d/f', 'some content', { fileSystem });
      assert.equal(fileSystem.text('d/f'), 'some content');
    });

    it('names a missing folder', async () => {
      await assert.rejects(atomicWriteFile(join(dir, 'no', 'f'), 'x'), /no\/f: it does not exist.*ENOENT/);
    });
  });

  describe('TranscriptFile', () => {
    const fail = (damage: Damage) => assert.fail(damage.reason);

    it('keeps the order of mixed appends, and syncs once for those that wait together', async () => {
      const fileSystem = new FaultyFileSystem();
      const transcript = new TranscriptFile('t/alice.jsonl', fileSystem);
      await Promise.all([1, 2, 3, 4].map((n) => transcript.append({ n }, { sync: n === 3 })));
      assert.equal(fileSystem.count('datasync'), 1);
      await transcript.append({ n: 5 }, { sync: false });
      assert.equal(fileSystem.count('datasync'), 1);
      await transcript.close();
      const records = await TranscriptFile.load('t/alice.jsonl', fail, fileSystem);
      assert.deepEqual(
        records,
        [1, 2, 3, 4, 5].map((n) => ({ n })),
      );
      await assert.rejects(transcript.append({ n: 6 }, { sync: true }), /it is closed/);
    });

    it('has no records without a file', async () => {
      assert.deepEqual(await TranscriptFile.load(join(dir, 'none.jsonl'), fail), []);
    });

    it('case 23: a torn tail stays, is told each time, and does not touch the next record', async () => {
      for (const tail of ['{"n":2,"te', '{"n":2}']) {
        const path = join(dir, 'alice.jsonl');
        await writeFile(path, `{"n":1}\n\0\0\n${tail}`);
        for (let opening = 0; opening < 2; opening += 1) {
          const damage: Damage[] = [];
          assert.deepEqual(
            await TranscriptFile.load(path, (d) => damage.push(d)),
            opening === 0 ? [{ n: 1 }] : [{ n: 1 }, { n: 3 }],
          );
          assert.deepEqual(
            damage.map((d) => d.line),
            [2, 3],
          );
          if (opening > 0) continue;
          const transcript = new TranscriptFile(path);
          await transcript.append({ n: 3 }, { sync: true });
          await transcript.close();
        }
        assert.ok((await readFile(path, 'utf8')).includes(tail));
      }
    });

    it('cuts a refused record off before the next one, whichever operation fails', async () => {
      for (let failing = 0; failing < 12; failing += 1) {
        for (const kind of ['fails', 'fails after the fact'] as const) {
          const fileSystem = new FaultyFileSystem();
          fileSystem.fault = (operation, index) =>
            index === failing && operation.name !== 'close' ? { kind, code: 'ENOSPC' } : undefined;
          const transcript = new TranscriptFile('t/a.jsonl', fileSystem);
          const kept: unknown[] = [];
          for (let n = 1; n <= 4; n += 1) {
            await transcript.append({ n }, { sync: n % 2 === 0 }).then(
              () => kept.push({ n }),
              (error) => assert.ok(error instanceof StorageError),
            );
          }
          fileSystem.fault = () => undefined;
          await transcript.close();
          assert.deepEqual(await TranscriptFile.load('t/a.jsonl', fail, fileSystem), kept);
        }
      }
    });
  });

  describe('ensureTeamFolder', () => {
    it('makes the folder with a .gitignore, and leaves an own one alone', async () => {
      const folder = await ensureTeamFolder(dir);
      assert.equal(folder, join(dir, '.team'));
      assert.equal(await readFile(join(folder, '.gitignore'), 'utf8'), '*\n');
      await writeFile(join(folder, '.gitignore'), 'mine\n');
      await ensureTeamFolder(dir);
      assert.equal(await readFile(join(folder, '.gitignore'), 'utf8'), 'mine\n');
    });

    it('refuses a file and a link of that name', async () => {
      await writeFile(join(dir, '.team'), '');
      await assert.rejects(
        ensureTeamFolder(dir),
        (error) => error instanceof StorageError && /\.team/.test(error.message),
      );
      await rm(join(dir, '.team'));
      await mkdir(join(dir, 'elsewhere'));
      await chmod(join(dir, 'elsewhere'), 0o755);
      await symlink(join(dir, 'elsewhere'), join(dir, '.team'));
      await assert.rejects(ensureTeamFolder(dir), /it is a link/);
      assert.deepEqual(await readdir(join(dir, 'elsewhere')), []);
    });
  });
});
