import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Journal, type JsonObject, memoryVault, StorageError, type Vault } from '../../src/store';
import { JournalKey } from '../../src/store/journalKey';
import { FaultyFileSystem } from './storeFaults';
import {
  appendNumbers,
  DIR,
  JournalFolder,
  noDamage,
  numbers,
  recordsOf,
  segmentPath,
} from './support/journalFolder';

describe('journal', function () {
  this.timeout(30_000);

  it('gives back what was appended, in order, across openings', async () => {
    const folder = new JournalFolder();
    const first = await folder.open();
    assert.deepEqual(first.items, []);
    await first.journal.append([{ type: 'a' }]);
    await first.journal.append([{ type: 'b' }, { type: 'c', seq: 9, mac: 'x', journal: 1 }, {}]);
    await first.journal.close();
    const second = await folder.open();
    await second.journal.append([{ type: 'd' }]);
    await second.journal.close();
    const third = await folder.look();
    assert.deepEqual(third.items, [
      { record: { type: 'a' } },
      { record: { type: 'b' } },
      { record: { type: 'c', seq: 9, mac: 'x', journal: 1 } },
      { record: {} },
      { record: { type: 'd' } },
    ]);
    assert.deepEqual([third.damage, third.warnings], [[], []]);
    assert.deepEqual(folder.segments(), [segmentPath(1), segmentPath(2)]);
  });

  it('writes nothing into the folder when it is merely opened', async () => {
    const folder = new JournalFolder();
    await folder.look();
    assert.deepEqual(folder.segments(), []);
    const { journal } = await folder.open({ epoch: 1 });
    await journal.append([{ n: 1 }]);
    await journal.close();
    await folder.look({ epoch: 1 });
    assert.deepEqual(folder.segments(), [segmentPath(1)]);
  });

  it('numbers, chains and authenticates every line, headers too', async () => {
    const folder = new JournalFolder();
    const { journal } = await folder.open();
    await journal.append([{ n: 1 }]);
    await journal.append([{ n: 2 }, { n: 3, text: 'é' }]);
    await journal.close();
    await (await folder.open()).journal.append([{ n: 4 }]);
    const key = (await folder.vault.load())?.key ?? '';
    let prev = '';
    [...folder.lines(1), ...folder.lines(2)].forEach((line, at) => {
      const parsed: JsonObject = JSON.parse(line);
      assert.deepEqual([parsed.seq, parsed.prev, parsed.segment], [at + 1, prev, at < 3 ? 1 : 2]);
      const end = line.lastIndexOf(',"mac":"');
      const mac = createHmac('sha256', Buffer.from(key, 'hex'))
        .update(line.slice(0, end))
        .digest('base64url');
      assert.equal(line.slice(end), `,"mac":"${mac.slice(0, 22)}"}`);
      prev = mac.slice(0, 22);
    });
    assert.deepEqual(JSON.parse(folder.lines(2)[0] ?? '').previous, {
      segment: 1,
      bytes: folder.fileSystem.text(segmentPath(1)).length + 1,
    });
  });

  it('makes the codes that HMAC-SHA-256 makes, whatever the length', () => {
    const key = JournalKey.random();
    for (const length of [0, 1, 63, 64, 65, 1000, 65_536, 65_537, 200_000, 10]) {
      const bytes = Buffer.alloc(length, 'x');
      const expected = createHmac('sha256', Buffer.from(key.hex, 'hex')).update(bytes).digest('base64url');
      assert.equal(key.code(bytes), expected.slice(0, 22));
    }
    assert.throws(() => new JournalKey('abc'), TypeError);
  });

  it('takes a record as it is at the call', async () => {
    const folder = new JournalFolder();
    const { journal } = await folder.open();
    const record: JsonObject = { n: 1 };
    const done = journal.append([record]);
    record.n = 2;
    await done;
    await journal.close();
    assert.deepEqual((await folder.look()).records, [{ n: 1 }]);
  });

  it('calls back in the order of the appends, on the disk, before any of them resolves', async () => {
    const folder = new JournalFolder();
    const { journal } = await folder.open();
    await journal.append([{ n: 0 }]);
    const order: string[] = [];
    const syncs = folder.fileSystem.count('datasync');
    await Promise.all(
      [1, 2, 3].map((n) =>
        journal
          .append([{ n }], () => order.push(`durable ${n} ${folder.fileSystem.count('datasync') - syncs}`))
          .then(() => order.push(`resolved ${n}`)),
      ),
    );
    assert.deepEqual(order, [
      'durable 1 1',
      'durable 2 1',
      'durable 3 1',
      'resolved 1',
      'resolved 2',
      'resolved 3',
    ]);
  });

  it('rejects the one append whose callback throws; its record is there, and the others are told', async () => {
    const folder = new JournalFolder();
    const { journal } = await folder.open();
    const results = await Promise.allSettled([
      journal.append([{ n: 1 }], () => {
        throw new Error('the caller broke');
      }),
      journal.append([{ n: 2 }]),
    ]);
    assert.deepEqual(
      results.map((result) => result.status),
      ['rejected', 'fulfilled'],
    );
    await journal.close();
    assert.deepEqual((await folder.look()).records, [{ n: 1 }, { n: 2 }]);
  });

  it('shares one sync between the appends that wait for it', async () => {
    const folder = new JournalFolder();
    const { journal } = await folder.open();
    await journal.append([{ n: 0 }]);
    const before = folder.fileSystem.count('datasync');
    await Promise.all(Array.from({ length: 50 }, (_, n) => journal.append([{ n }])));
    assert.equal(folder.fileSystem.count('datasync') - before, 1);
    await journal.close();
    assert.deepEqual(numbers((await folder.look()).records), [0, ...Array.from({ length: 50 }, (_, n) => n)]);
  });

  it('refuses things that are not JSON, and appends after close', async () => {
    const folder = new JournalFolder();
    const { journal } = await folder.open();
    await assert.rejects(journal.append([{ n: 1n }]), TypeError);
    await journal.append([]);
    await journal.close();
    await assert.rejects(journal.append([{ n: 1 }]), /the journal is closed/);
    assert.deepEqual((await folder.look()).items, []);
  });

  it('does not read a journal of a newer format', async () => {
    const folder = new JournalFolder();
    folder.fileSystem.put(segmentPath(1), '{"journal":3,"segment":1,"previous":null}\n');
    await assert.rejects(folder.open(), /newer version/);
  });

  it('looks at the journal of another window without writing anything', async () => {
    const folder = new JournalFolder();
    const { journal } = await folder.open({ epoch: 1 });
    await journal.append([{ n: 1 }]);
    const stored = await folder.vault.load();
    const count = folder.fileSystem.operations.length;
    const save = (): Promise<void> => assert.fail('the vault was written');
    const vault: Vault = { load: () => folder.vault.load(), save };
    const items = await Journal.read(DIR, { fileSystem: folder.fileSystem, vault, onDamage: noDamage });
    assert.deepEqual(recordsOf(items), [{ n: 1 }]);
    const names = folder.fileSystem.operations.slice(count).map((operation) => operation.name);
    assert.deepEqual([...new Set(names)], ['readdir', 'open', 'read', 'close']);
    assert.deepEqual(await folder.vault.load(), stored);
    await journal.append([{ n: 2 }]);
    await journal.close();
    assert.deepEqual((await folder.look()).records, [{ n: 1 }, { n: 2 }]);
  });

  it('reads many lines and long ones', async () => {
    const folder = new JournalFolder();
    const { journal } = await folder.open();
    const long = 'x'.repeat(3_000_000);
    await Promise.all(Array.from({ length: 20_000 }, (_, n) => journal.append([{ n }])));
    await journal.append([{ long }]);
    await journal.close();
    const { records, damage, gaps } = await folder.look();
    assert.equal(records.length, 20_001);
    assert.deepEqual(records[19_999], { n: 19_999 });
    assert.deepEqual(records[20_000], { long });
    assert.deepEqual([damage, gaps], [[], []]);
  });

  describe('on a disk', () => {
    let dir: string;
    beforeEach(async () => {
      dir = join(await mkdtemp(join(tmpdir(), 'handshake-journal-')), 'journal');
    });
    afterEach(async () => {
      await rm(join(dir, '..'), { recursive: true, force: true });
    });

    it('keeps what is appended', async () => {
      const vault = memoryVault();
      for (let opening = 0; opening < 3; opening += 1) {
        const { journal, items } = await Journal.open(dir, { onDamage: noDamage, vault });
        assert.deepEqual(
          numbers(recordsOf(items)),
          Array.from({ length: opening * 2 }, (_, at) => at + 1),
        );
        await appendNumbers(journal, opening * 2 + 1, opening * 2 + 2);
        await journal.close();
      }
      assert.deepEqual((await readdir(dir)).sort(), ['000001.jsonl', '000002.jsonl', '000003.jsonl']);
    });

    it('names the folder that is a file', async () => {
      const file = join(dir, '..', 'file');
      await writeFile(file, 'x');
      const options = { onDamage: noDamage, vault: memoryVault() };
      await assert.rejects(Journal.open(join(file, 'journal'), options), (error) => {
        assert.ok(error instanceof StorageError);
        assert.equal(error.code, 'ENOTDIR');
        assert.ok(error.message.includes(file));
        return true;
      });
    });

    it('does not write over what somebody else appended', async () => {
      const vault = memoryVault();
      const { journal } = await Journal.open(dir, { onDamage: noDamage, vault });
      await journal.append([{ n: 1 }]);
      const path = join(dir, '000001.jsonl');
      await writeFile(path, 'foreign\n', { flag: 'a' });
      await journal.close();
      const second = await Journal.open(dir, { onDamage: () => undefined, vault });
      await second.journal.append([{ n: 2 }]);
      await second.journal.close();
      assert.match(await readFile(path, 'utf8'), /foreign\n$/);
      const third = await Journal.open(dir, { onDamage: () => undefined, vault });
      await third.journal.close();
      assert.deepEqual(recordsOf(third.items), [{ n: 1 }, { n: 2 }]);
    });
  });

  it('can be opened on another file system', async () => {
    const fileSystem = new FaultyFileSystem();
    const vault = memoryVault();
    const { journal } = await Journal.open('elsewhere', { onDamage: noDamage, fileSystem, vault });
    await journal.append([{ n: 1 }]);
    await journal.close();
    assert.ok(fileSystem.text('elsewhere/000001.jsonl').includes('"n":1'));
  });
});
