import assert from 'node:assert/strict';
import type { Core } from '../../src/agent/coreApi';
import { type Answer, type HandshakeRequest, Refusal } from '../../src/protocol';
import { Decider } from '../../src/ui/decider';
import { request } from './uiFixtures';

/** The part of a core that decides, with an answer that comes when the test says so. */
function slowCore(waiting: HandshakeRequest) {
  const answers: Answer[] = [];
  let settle: { resolve(): void; reject(error: Error): void } | undefined;
  const decide = (answer: Answer) =>
    new Promise<HandshakeRequest>((resolve, reject) => {
      answers.push(answer);
      settle = { resolve: () => resolve({ ...waiting, status: 'approved', decidedBy: 'human' }), reject };
    });
  const core: Pick<Core, 'decide'> = { decide };
  return { core, answers, resolve: () => settle?.resolve(), reject: (error: Error) => settle?.reject(error) };
}

function setUp(waiting: HandshakeRequest) {
  const slow = slowCore(waiting);
  const clock = { now: 1000 };
  const decider = new Decider(
    async () => slow.core,
    (error) => assert.fail(String(error)),
    () => clock.now,
  );
  const changes: boolean[] = [];
  decider.onDidChange((id) => changes.push(decider.isDeciding(id)));
  return { ...slow, decider, changes, clock };
}

/** Lets everything that is due now run. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('decisions from the seat', () => {
  it('case 48: two clicks on the same Approve are one decision', async () => {
    const a = request();
    const { decider, answers, changes, resolve } = setUp(a);
    const first = decider.decide(a.requestId, true, undefined, 'ui');
    const second = decider.decide(a.requestId, true, undefined, 'ui');
    await settled();
    assert.equal(answers.length, 1);
    resolve();
    assert.deepEqual(await first, await second);
    assert.deepEqual(changes, [true, false]);
  });

  it('tells a click on a row from a prompt that code could accept, and both from a command', async () => {
    const seen: Answer[] = [];
    for (const origin of ['ui', 'prompt', 'command'] as const) {
      const a = request();
      const { decider, answers, resolve } = setUp(a);
      const deciding = decider.decide(a.requestId, false, 'No.', origin);
      await settled();
      resolve();
      await deciding;
      seen.push(...answers);
    }
    assert.deepEqual(
      seen.map(({ via, prompted, by, feedback }) => [via, prompted, by, feedback]),
      [
        ['ui', undefined, 'human', 'No.'],
        ['ui', true, 'human', 'No.'],
        ['command', undefined, 'human', 'No.'],
      ],
    );
  });

  it('case 48: a click 100 ms after the decision joins it; a later one, or a command, is refused by the core', async () => {
    const a = request();
    const { decider, answers, clock, resolve } = setUp(a);
    const first = decider.decide(a.requestId, true, undefined, 'ui');
    await settled();
    resolve();
    await first;
    clock.now += 100;
    assert.deepEqual(await decider.decide(a.requestId, true, undefined, 'ui'), await first);
    assert.equal(answers.length, 1);
    void decider.decide(a.requestId, true, undefined, 'command');
    await settled();
    assert.equal(answers.length, 2);
  });

  it('asks the core again when the second click comes late', async () => {
    const a = request();
    const { decider, answers, clock, resolve } = setUp(a);
    const first = decider.decide(a.requestId, true, undefined, 'ui');
    await settled();
    resolve();
    await first;
    clock.now += 2000;
    void decider.decide(a.requestId, true, undefined, 'ui');
    await settled();
    assert.equal(answers.length, 2);
  });

  it('sends the human, the way it came in, and feedback only if there is any', async () => {
    const a = request();
    const { decider, answers, resolve } = setUp(a);
    const done = decider.decide(a.requestId, false, '', 'command');
    await settled();
    resolve();
    await done;
    assert.deepEqual(answers, [{ requestId: a.requestId, approve: false, by: 'human', via: 'command' }]);
  });

  it('lets the core judge the opposite click', async () => {
    const a = request();
    const { decider, answers, resolve } = setUp(a);
    void decider.decide(a.requestId, true, undefined, 'ui');
    const opposite = decider.decide(a.requestId, false, undefined, 'ui');
    await settled();
    assert.equal(answers.length, 2);
    resolve();
    await opposite;
  });

  it('gives the row its buttons back when the decision is refused', async () => {
    const a = request();
    const { decider, changes, reject } = setUp(a);
    const done = decider.decide(a.requestId, true, undefined, 'ui');
    await settled();
    reject(new Refusal('already_decided', 'Request was already rejected by lead.', a.requestId));
    await assert.rejects(done, { code: 'already_decided' });
    assert.deepEqual(changes, [true, false]);
    assert.ok(!decider.isDeciding(a.requestId));
  });
});
