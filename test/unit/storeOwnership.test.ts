import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import * as net from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import * as z from 'zod';
import { FencedError, fencedFileSystem, StorageError } from '../../src/store';
import { claimOwnership, type Ownership } from '../../src/store/ownership';
import { OwnerWatch } from '../../src/store/ownershipWatch';
import { CHILD_DIR, OwnerChild, runOwnerChild } from './support/ownerChild';

const childDir = process.env[CHILD_DIR];
if (childDir !== undefined) runOwnerChild(childDir);
else {
  describe('one owner of a team', function () {
    // Processes are started, on machines that have other things to do.
    this.timeout(60_000);
    ownershipTests();
  });
}

function ownershipTests(): void {
  let dir: string;
  let children: OwnerChild[];
  let owners: Ownership[];

  beforeEach(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'handshake-owner-'));
    children = [];
    owners = [];
  });

  afterEach(async () => {
    await Promise.all(children.map((child) => child.kill()));
    await Promise.all(owners.map((owner) => owner.release()));
    await rm(dir, { recursive: true, force: true });
  });

  const child = async () => {
    const started = await OwnerChild.start(__filename, dir);
    children.push(started);
    return started;
  };
  const own = async (
    options: { takeOver?: boolean; onAsked?: () => Promise<void>; patience?: number } = {},
  ) => {
    const claim = await claimOwnership(dir, { onAsked: async () => undefined, ...options });
    assert.ok('owner' in claim, 'somebody else has the team');
    owners.push(claim.owner);
    return claim;
  };
  const address = async () => {
    const name = (await readdir(dir)).filter((entry) => entry.startsWith('epoch-')).at(-1) ?? '';
    const text = await readFile(path.join(dir, name), 'utf8');
    return z.object({ address: z.string() }).parse(JSON.parse(text)).address;
  };

  it('is the first that claims; a second one is told who has it', async () => {
    const { owner } = await own();
    assert.equal(owner.epoch, 1);
    assert.ok(owner.isHeld());
    const other = await child();
    assert.deepEqual(await other.claim(), { pid: process.pid });
    assert.ok(owner.isHeld());
  });

  it('is free again when it was released, with a later epoch', async () => {
    const { owner } = await own();
    await owner.release();
    assert.equal(owner.isHeld(), false);
    const { owner: next } = await own();
    assert.equal(next.epoch, 2);
    assert.deepEqual(await readdir(dir), ['epoch-000002']);
  });

  it('is freed by the system when its process is killed', async () => {
    const first = await child();
    const second = await child();
    assert.deepEqual(await first.claim(), { said: 'owner', epoch: 1 });
    assert.deepEqual(await second.claim(), { pid: first.pid });
    await first.kill();
    assert.deepEqual(await second.claim(), { said: 'owner', epoch: 2 });
    assert.ok(await second.isHeld());
  });

  it('is one of twenty that claim what a killed one left, all at once', async () => {
    const killed = await child();
    await killed.claim();
    await killed.kill();
    const processes = await Promise.all(Array.from({ length: 4 }, () => child()));
    const claims = await Promise.all(
      processes.flatMap((one) =>
        Array.from({ length: 5 }, async () => ({ by: one.pid, claim: await one.claim() })),
      ),
    );
    assert.equal(claims.length, 20);
    const winners = claims.filter(({ claim }) => 'epoch' in claim);
    assert.equal(winners.length, 1);
    const held = await Promise.all(processes.map((one) => one.isHeld()));
    assert.equal(held.filter(Boolean).length, 1);
    for (const { claim } of claims) if ('pid' in claim) assert.equal(claim.pid, winners[0]?.by);
  });

  it('pauses when it is asked, and then has lost it', async () => {
    const first = await child();
    await first.claim();
    const second = await child();
    assert.deepEqual(await second.claim(true), { said: 'owner', epoch: 2 });
    assert.equal((await first.hears('asked')).by, second.pid);
    await first.hears('lost');
    assert.equal(await first.isHeld(), false);
    assert.ok(await second.isHeld());
  });

  it('holds while it pauses, and gives way only then', async () => {
    let paused: () => void = () => undefined;
    let asked: () => void = () => undefined;
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const { owner } = await own({
      onAsked: () => {
        asked();
        return new Promise((resolve) => {
          paused = resolve;
        });
      },
    });
    const taking = own({ takeOver: true });
    await isAsked;
    assert.ok(owner.isHeld(), 'what it writes while it pauses still counts');
    paused();
    const { owner: next, forced } = await taking;
    assert.equal(forced, undefined);
    assert.equal(owner.isHeld(), false);
    assert.ok(next.isHeld());
  });

  it('has lost it even when its pause fails, and the other is told why', async () => {
    const { owner } = await own({ onAsked: () => Promise.reject(new Error('the disk is full')) });
    const { owner: next, forced } = await own({ takeOver: true });
    assert.equal(forced, 'the disk is full');
    assert.deepEqual([owner.isHeld(), next.isHeld()], [false, true]);
  });

  it('is told once that it lost, after its successor is known', async () => {
    const { owner } = await own();
    let told = 0;
    const lost = new Promise<string[]>((resolve) =>
      owner.onLost(() => {
        told += 1;
        resolve(readdir(dir));
      }),
    );
    await own({ takeOver: true });
    assert.ok((await lost).includes('epoch-000002'));
    owner.isHeld();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(told, 1);
  });

  it('that slept is fenced when it wakes, though it was never asked', async () => {
    const sleeper = await child();
    await sleeper.claim();
    sleeper.signal('SIGSTOP');
    const second = await child();
    const taken = await second.claim(true);
    assert.ok('epoch' in taken && taken.epoch === 2);
    assert.match(taken.forced ?? '', /did not answer/);
    sleeper.signal('SIGCONT');
    assert.equal(await sleeper.isHeld(), false);
    await sleeper.hears('lost');
    assert.equal(sleeper.said('asked'), false, 'nothing is left to pause for');
    assert.ok(await second.isHeld());
  });

  it('that slept through several successors is fenced too', async () => {
    const sleeper = await child();
    await sleeper.claim();
    sleeper.signal('SIGSTOP');
    await own({ takeOver: true, patience: 200 });
    await own({ takeOver: true });
    await own({ takeOver: true });
    assert.deepEqual(await readdir(dir), ['epoch-000004']);
    sleeper.signal('SIGCONT');
    assert.equal(await sleeper.isHeld(), false);
  });

  it('of two that take it over at once one has it, and the other is told', async () => {
    await own();
    const [a, b] = [await child(), await child()];
    const claims = await Promise.all([a.claim(true), b.claim(true)]);
    const held = [await a.isHeld(), await b.isHeld()];
    assert.equal(held.filter(Boolean).length, 1);
    const loser = held[0] ? 1 : 0;
    const claim = claims[loser] ?? assert.fail();
    if ('pid' in claim) assert.equal(claim.pid, (loser === 1 ? a : b).pid);
    // It came a moment earlier, and was taken over itself.
    else await (loser === 1 ? b : a).hears('lost');
  });

  it('refuses what is not a request, and stays', async () => {
    const { owner } = await own({ onAsked: () => Promise.reject(new Error('nobody asked')) });
    for (const garbage of [
      'hello\n',
      '{"ask":"take_over"}\n',
      '{"ask":"take_over","pid":"1"}\n',
      '{"ask":"approve","request_id":"d08982e3"}\n',
      '\u0000\u0001\n',
      `${'x'.repeat(100_000)}`,
      `${'x'.repeat(100_000)}\n`,
    ]) {
      const socket = net.connect(await address());
      let answer = '';
      socket.on('data', (chunk) => {
        answer += chunk;
      });
      // A line that is too long is cut off while it is sent.
      socket.on('error', () => undefined);
      socket.write(garbage);
      await new Promise((resolve) => socket.once('close', resolve));
      assert.doesNotMatch(answer, /released|watching/);
      assert.ok(owner.isHeld());
    }
  });

  it('is reachable by the same user alone', async () => {
    await own();
    const socket = await address();
    // A named pipe has the user's own access list.
    if (process.platform === 'win32') return assert.ok(socket.startsWith('\\\\.\\pipe\\'));
    assert.equal((await stat(socket)).mode & 0o777, 0o600);
    assert.equal((await stat(path.dirname(socket))).mode & 0o777, 0o700);
    assert.ok(Buffer.byteLength(socket) <= 100);
  });

  it('takes over from an epoch that a power cut left unreadable', async () => {
    await writeFile(path.join(dir, 'epoch-000007'), '\u0000\u0000\u0000');
    const { owner } = await own();
    assert.equal(owner.epoch, 8);
  });

  it('says which file stands in the way', async () => {
    await writeFile(path.join(dir, 'file'), '');
    await assert.rejects(
      claimOwnership(path.join(dir, 'file'), { onAsked: async () => undefined }),
      (error) => error instanceof StorageError && error.message.includes(path.join(dir, 'file')),
    );
  });

  it('once lost, lets nothing more reach a file', async () => {
    const { owner } = await own();
    const fenced = fencedFileSystem(() => owner.isHeld());
    const kept = path.join(dir, 'kept');
    const file = await fenced.open(kept, 'create');
    await file.write(Buffer.from('before'), 0);
    await own({ takeOver: true });
    const refused = [
      () => file.write(Buffer.from('after'), 6),
      () => file.truncate(0),
      // Whether what was written before is there is the new owner's to say.
      () => file.datasync(),
      () => fenced.open(path.join(dir, 'other'), 'create'),
      () => fenced.open(kept, 'update'),
      () => fenced.rename(kept, `${kept}.aside`),
      () => fenced.unlink(kept),
      () => fenced.mkdir(path.join(dir, 'folder')),
    ];
    for (const act of refused) await assert.rejects(act, FencedError, String(act));
    await file.close();
    assert.equal(await readFile(kept, 'utf8'), 'before');
    assert.deepEqual(await readdir(dir), ['epoch-000002', 'kept']);
    await (await fenced.open(kept, 'read')).close();
  });

  it('is seen by others, without a claim: who it is, that it died, and who follows', async () => {
    const first = await child();
    await first.claim();
    let changed: () => void = () => undefined;
    const next = () =>
      new Promise<void>((resolve) => {
        changed = resolve;
      });
    const pid = () => watch.owner?.pid;
    const watch = new OwnerWatch(
      dir,
      () => changed(),
      (error) => assert.fail(String(error)),
    );
    try {
      await watch.start();
      assert.equal(pid(), first.pid);
      const died = next();
      await first.kill();
      await died;
      assert.equal(pid(), undefined);
      const followed = next();
      const second = await child();
      await second.claim();
      await followed;
      assert.equal(pid(), second.pid);
    } finally {
      watch.dispose();
    }
  });
}
