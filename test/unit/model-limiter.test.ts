import assert from 'node:assert/strict';
import { CallLimiter } from '../../src/model/limiter';
import { type LanguageModel, ModelError, type ModelErrorKind } from '../../src/model/port';
import { describeWait } from '../../src/model/waitState';
import { deferred } from './support/turns';
import { VirtualTimers } from './support/virtualTimers';

type Attempt = (signal: AbortSignal, alive: () => void) => Promise<string>;

const modelAt = (endpoint: string): LanguageModel => ({
  label: 'm',
  isDemo: false,
  endpoint,
  call: () => assert.fail('The limiter calls no model itself.'),
});

describe('call limiter', () => {
  let timers: VirtualTimers;
  let limiter: CallLimiter;
  let max: number;
  /** What each member was told that it waits for, in order; empty text: no longer. */
  let told: Record<string, string[]>;
  let tries: { member: string; at: number }[];

  beforeEach(() => {
    timers = new VirtualTimers();
    max = 8;
    told = {};
    tries = [];
    limiter = new CallLimiter({ maxConcurrentCalls: () => max, timers, stallMs: 1000_000 });
  });

  const here = modelAt('http://here');
  const start = (
    member: string,
    attempt: Attempt,
    {
      model = here,
      signal = new AbortController().signal,
    }: { model?: LanguageModel; signal?: AbortSignal } = {},
  ): Promise<string> => {
    const running = limiter.run({
      signal,
      resolve: async () => model,
      attempt: (_, attemptSignal, alive) => {
        tries.push({ member, at: timers.now() });
        return attempt(attemptSignal, alive);
      },
      onWait: (state) => {
        told[member] ??= [];
        told[member].push(state ? describeWait(state) : '');
      },
    });
    running.catch(() => undefined);
    return running;
  };
  /** Fails so many times, then answers. */
  const failing = (kind: ModelErrorKind, times: number, retryAfterMs?: number): Attempt => {
    let left = times;
    return async () => {
      if (left-- > 0)
        throw new ModelError(kind, `It failed: ${kind}.`, { ...(retryAfterMs && { retryAfterMs }) });
      return 'answer';
    };
  };

  it('lets so many calls run at a time, in the order in which they came', async () => {
    max = 2;
    const calls = ['a', 'b', 'c', 'd'].map((name) => ({ name, end: deferred<string>() }));
    const running = calls.map(({ name, end }) => start(name, () => end.promise));
    await timers.advance(0);
    assert.deepEqual(
      tries.map((t) => t.member),
      ['a', 'b'],
    );
    assert.deepEqual(told, {
      c: ['waiting for other model calls to end'],
      d: ['waiting for other model calls to end'],
    });
    calls[1]?.end.resolve('b');
    await timers.advance(0);
    assert.deepEqual(
      tries.map((t) => t.member),
      ['a', 'b', 'c'],
    );
    assert.equal(told.c?.at(-1), '');
    for (const { name, end } of calls) end.resolve(name);
    assert.deepEqual(await Promise.all(running), ['a', 'b', 'c', 'd']);
  });

  it('gives an older call its turn first, also when it is tried again', async () => {
    max = 1;
    const first = start('old', failing('interrupted_stream', 1));
    const block = deferred<string>();
    void start('busy', () => block.promise);
    void start('new', async () => 'ok');
    await timers.advance(5000);
    assert.deepEqual(
      tries.map((t) => t.member),
      ['old', 'busy'],
    );
    block.resolve('ok');
    await timers.advance(0);
    assert.deepEqual(
      tries.map((t) => t.member),
      ['old', 'busy', 'old', 'new'],
    );
    assert.equal(await first, 'answer');
  });

  it('case 25: one pause for all, with jitter, bounded tries, and the state shown', async () => {
    timers = new VirtualTimers(Array.from({ length: 64 }, (_, n) => (n * 0.618) % 1));
    limiter = new CallLimiter({ maxConcurrentCalls: () => max, timers });
    let replies = 0;
    const limited: Attempt = async () => {
      if (++replies <= 10) throw new ModelError('rate_limit', 'Slow down.', { retryAfterMs: 5000 });
      return 'answer';
    };
    const members = ['a', 'b', 'c', 'd', 'e', 'f'];
    const running = members.map((name) => start(name, limited));
    await timers.advance(0);
    assert.equal(tries.length, 6);
    await timers.advance(4999);
    assert.equal(tries.length, 6, 'nobody calls during the pause');
    assert.match(told.a?.[0] ?? '', /^waiting [56] s: rate limit$/);
    assert.ok((told.a?.length ?? 0) > 4, 'the time that is left is told');
    await timers.advance(60_000);
    assert.deepEqual(await Promise.all(running), Array(6).fill('answer'));
    assert.equal(tries.length, 16);
    const later = tries.slice(6).map((t) => t.at);
    assert.equal(new Set(later).size, later.length, 'no two at the same moment');
    for (const name of members) assert.equal(told[name]?.at(-1), '');
    assert.equal(timers.pending, 0);
  });

  it('a member that comes during the pause waits as well; one of another endpoint does not', async () => {
    void start('a', failing('overloaded', 1, 5000));
    await timers.advance(0);
    void start('late', async () => 'ok');
    void start('elsewhere', async () => 'ok', { model: modelAt('http://elsewhere') });
    await timers.advance(1000);
    assert.deepEqual(
      tries.map((t) => t.member),
      ['a', 'elsewhere'],
    );
    assert.equal(told.late?.[0], 'waiting 5 s: endpoint overloaded');
    await timers.advance(10_000);
    assert.deepEqual(tries.map((t) => t.member).sort(), ['a', 'a', 'elsewhere', 'late']);
  });

  it('grows the pauses and gives up with the last error', async () => {
    const running = start('a', failing('rate_limit', 100));
    await timers.advance(1000_000);
    await assert.rejects(running, (error: unknown) => {
      assert.ok(error instanceof ModelError);
      assert.equal(error.message, 'It failed: rate_limit. It was tried 8 times.');
      assert.equal(error.kind, 'rate_limit');
      return true;
    });
    const gaps = tries.slice(1).map((t, i) => t.at - (tries[i]?.at ?? 0));
    assert.deepEqual(gaps, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000]);
  });

  for (const kind of ['unreachable', 'timeout', 'interrupted_stream'] as const)
    it(`tries ${kind} again, alone and a few times`, async () => {
      const running = start('a', failing(kind, 100));
      void start('b', async () => 'ok');
      await timers.advance(0);
      assert.equal(tries.length, 2, 'others go on');
      await timers.advance(100_000);
      await assert.rejects(running, /tried 4 times/);
    });

  for (const kind of ['bad_request', 'unknown_model', 'wrong_protocol', 'quota', 'refused', 'other'] as const)
    it(`does not try ${kind} again`, async () => {
      await assert.rejects(start('a', failing(kind, 100)), new RegExp(`^ModelError: It failed: ${kind}\\.$`));
      assert.equal(tries.length, 1);
    });

  it('does not wait for what is longer than ten minutes', async () => {
    await assert.rejects(start('a', failing('rate_limit', 1, 3600_000)), /It failed: rate_limit\.$/);
  });

  it('ends a wait at once when it is aborted, and frees nothing twice', async () => {
    max = 1;
    const stop = new AbortController();
    const reason = new Error('interrupt');
    const paused = start('a', failing('rate_limit', 1, 5000), { signal: stop.signal });
    await timers.advance(100);
    stop.abort(reason);
    await assert.rejects(paused, reason);
    assert.equal(timers.pending, 0);
    const block = deferred<string>();
    const other = modelAt('http://elsewhere');
    void start('b', () => block.promise, { model: other });
    const queued = new AbortController();
    const inQueue = start('c', async () => 'ok', { signal: queued.signal, model: other });
    await timers.advance(0);
    queued.abort(reason);
    await assert.rejects(inQueue, reason);
    void start('d', async () => 'ok', { model: other });
    void start('e', async () => 'ok', { model: other });
    await timers.advance(0);
    assert.equal(tries.at(-1)?.member, 'b', 'one at a time still');
    block.resolve('ok');
    await timers.advance(0);
    assert.deepEqual(
      tries.slice(-2).map((t) => t.member),
      ['d', 'e'],
    );
  });

  it('ends a call that does not heed its signal', async () => {
    const stop = new AbortController();
    const running = start('a', () => new Promise(() => undefined), { signal: stop.signal });
    await timers.advance(0);
    stop.abort('interrupt');
    await assert.rejects(running, (reason: unknown) => reason === 'interrupt');
  });

  describe('a stalled call', () => {
    beforeEach(() => {
      limiter = new CallLimiter({ maxConcurrentCalls: () => max, timers, stallMs: 120_000 });
    });

    it('is cut and tried again', async () => {
      let first: AbortSignal | undefined;
      const running = start('a', (signal) => {
        if (first) return Promise.resolve('answer');
        first = signal;
        return new Promise(() => undefined);
      });
      await timers.advance(119_999);
      assert.equal(first?.aborted, false);
      await timers.advance(1);
      assert.equal(first?.aborted, true);
      assert.deepEqual(told.a, ['waiting 1 s: no answer came']);
      await timers.advance(1000);
      assert.equal(await running, 'answer');
      assert.equal(timers.pending, 0);
    });

    it('is none while signs of life come', async () => {
      const end = deferred<string>();
      let alive = (): void => assert.fail('The call has not begun.');
      const running = start('a', (_, tell) => {
        alive = tell;
        return end.promise;
      });
      for (let n = 0; n < 10; n++) {
        await timers.advance(100_000);
        alive();
      }
      end.resolve('answer');
      assert.equal(await running, 'answer');
      assert.equal(tries.length, 1);
    });

    it('is given up after a few tries, with a sentence that says so', async () => {
      const running = start('a', () => new Promise(() => undefined));
      await timers.advance(1000_000);
      await assert.rejects(running, /http:\/\/here sent nothing for 120 s.*It was tried 4 times\./);
    });
  });

  describe('case 29: a refused key', () => {
    const refused: Attempt = async () => {
      throw new ModelError('bad_key', 'The key is refused.');
    };

    it('is not tried again, by nobody who waits, until there is another', async () => {
      max = 1;
      let model = modelAt('http://here');
      const use = (member: string) =>
        limiter.run({
          signal: new AbortController().signal,
          resolve: async () => model,
          attempt: (used, signal, alive) => {
            tries.push({ member, at: 0 });
            return used === model && model !== old ? Promise.resolve('answer') : refused(signal, alive);
          },
          onWait: () => undefined,
        });
      const old = model;
      const outcomes = await Promise.allSettled(['a', 'b', 'c', 'd'].map(use));
      assert.deepEqual(
        outcomes.map((o) => o.status),
        Array(4).fill('rejected'),
      );
      assert.equal(tries.length, 1);
      model = modelAt('http://here');
      assert.deepEqual(await Promise.all(['a', 'b', 'c', 'd'].map(use)), Array(4).fill('answer'));
    });

    it("may be tried once more on the human's word", async () => {
      await assert.rejects(start('a', refused), /refused/);
      await assert.rejects(start('a', refused), /refused/);
      assert.equal(tries.length, 1);
      limiter.forgive();
      await assert.rejects(start('a', refused), /refused/);
      assert.equal(tries.length, 2);
    });
  });
});
