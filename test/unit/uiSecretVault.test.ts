import assert from 'node:assert/strict';
import { Journal, type VaultContent } from '../../src/store';
import { secretVault } from '../../src/ui/secretVault';
import { FaultyFileSystem } from './storeFaults';
import { noDamage, recordsOf } from './support/journalFolder';

/** A secret storage that can refuse, and the log beside it. */
function secretStorage() {
  const secrets = new Map<string, string>();
  const errors: string[] = [];
  const refusing: { get?: Error; store?: Error } = {};
  return {
    secrets,
    errors,
    refusing,
    storage: {
      get: async (name: string) => {
        if (refusing.get) throw refusing.get;
        return secrets.get(name);
      },
      store: async (name: string, text: string) => {
        if (refusing.store) throw refusing.store;
        secrets.set(name, text);
      },
    },
    log: { error: (text: string | Error) => void errors.push(String(text)) },
  };
}

const CONTENT: VaultContent = { key: 'ab'.repeat(32), anchor: { seq: 3, mac: 'm', segment: 2, after: 1 } };

describe('the vault in the secret storage', () => {
  it('keeps key and anchor as one secret, another for each journal', async () => {
    const { secrets, storage, log, errors } = secretStorage();
    const vault = secretVault(storage, 'one', log);
    assert.equal(await vault.load(), undefined);
    await vault.save({ ...CONTENT, anchor: null });
    await vault.save(CONTENT);
    assert.deepEqual([...secrets.keys()], ['handshake.journal.one']);
    assert.deepEqual(await secretVault(storage, 'one', log).load(), CONTENT);
    assert.equal(await secretVault(storage, 'two', log).load(), undefined);
    assert.deepEqual(errors, []);
  });

  it('says that a storage is slow while it is, and goes on when it answers', async () => {
    const { storage, log } = secretStorage();
    let answer: (text: string) => void = () => undefined;
    const slow = { ...storage, get: () => new Promise<string>((resolve) => (answer = resolve)) };
    const waiting: Promise<unknown>[] = [];
    const loading = new Promise<VaultContent | undefined>((resolve, reject) => {
      const onSlow = (until: Promise<unknown>): void => {
        waiting.push(until);
        answer(JSON.stringify(CONTENT));
      };
      secretVault(slow, 'one', log, onSlow, 1).load().then(resolve, reject);
    });
    assert.deepEqual(await loading, CONTENT, 'it answered once that was told');
    assert.equal(waiting.length, 1);
    await waiting[0];
    // One that answers is no matter.
    const quick = secretVault(storage, 'one', log, () => assert.fail('it was not slow'), 60_000);
    assert.equal(await quick.load(), undefined);
  });

  it('does not take a storage that refuses for an empty one', async () => {
    const { storage, refusing, log } = secretStorage();
    refusing.get = new Error('no keyring');
    await assert.rejects(secretVault(storage, 'one', log).load(), /no keyring/);
  });

  it('counts as empty where something else is kept, and shows nothing of it', async () => {
    const { key } = CONTENT;
    for (const text of ['', '{"key":', key, `{"key":"${key}0","anchor":null}`, `{"key":"${key}"}`, 'null']) {
      const { secrets, storage, log, errors } = secretStorage();
      secrets.set('handshake.journal.one', text);
      assert.equal(await secretVault(storage, 'one', log).load(), undefined);
      assert.deepEqual(errors, [
        "The secret storage did not give the key of the team's journal: what it holds is damaged.",
      ]);
    }
  });

  it('does for a journal, also when it refuses to keep anything', async () => {
    const fileSystem = new FaultyFileSystem();
    const { storage, refusing, log } = secretStorage();
    const open = async (warnings: string[]) =>
      Journal.open('j', {
        fileSystem,
        vault: secretVault(storage, 'one', log),
        onDamage: noDamage,
        onWarning: (text) => warnings.push(text),
      });
    const first = await open([]);
    await first.journal.append([{ n: 1 }]);
    await first.journal.close();
    refusing.store = new Error('read-only');
    const warnings: string[] = [];
    const second = await open(warnings);
    assert.deepEqual(second.items, [{ record: { n: 1 } }]);
    await second.journal.append([{ n: 2 }]);
    await second.journal.close();
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /could not be kept in the secret storage: read-only/);
    const third = await open([]);
    assert.deepEqual(recordsOf(third.items), [{ n: 1 }, { n: 2 }]);
    await third.journal.close();
  });
});
