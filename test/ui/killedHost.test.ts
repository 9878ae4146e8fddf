import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { hear } from '../crash/heard';
import { Random } from '../crash/random';
import { root } from '../host/paths';
import { type ModelServer, startModelServer } from '../model-server';
import { toTurn } from '../model-server/brains';
import { WorkbenchDriver } from './driver';
import { eventually } from './driver-wait';
import { fileOf, isForTheHuman, roundsBrain } from './support/rounds';

const KILLS = 10;
const SEED = Number(process.env.HANDSHAKE_CRASH_SEED ?? Date.now() % 1_000_000);
const KEY = 'sk-ant-api-key-of-the-killed-host';
/** A round has more calls of the model than this, whoever is called when. */
const LAST_CALL = 6;

const request = z.object({
  requestId: z.string(),
  kind: z.string(),
  status: z.string(),
  decidedBy: z.string().optional(),
});
const answers = z.object({
  team: z.object({ members: z.array(z.object({ name: z.string(), status: z.string() })) }),
  requests: z.array(request),
});
const roster = z.object({ members: z.array(z.object({ name: z.string(), status: z.string() })) });
const logLine = z.looseObject({
  event: z.string(),
  request_id: z.string().optional(),
  change: z.string().optional(),
});

/** The extension host of a real window is killed while a team is at work in it, and the page loaded anew. */
describe(`a team whose extension host is killed ${KILLS} times (seed ${SEED})`, () => {
  const random = new Random(SEED);
  /** How each request ended, as it was first told. */
  const ended = new Map<string, string>();
  let window: WorkbenchDriver;
  let model: ModelServer;

  before(async () => {
    model = await startModelServer({ brain: roundsBrain, key: KEY });
    window = await WorkbenchDriver.start({
      extensions: [root, join(root, 'test', 'ui', 'api-extension')],
      env: { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: model.url },
      settings: { 'handshake.resume': 'always', 'handshake.permissions.mode': 'acceptEdits' },
    });
  });

  afterEach(async function () {
    await window.witness(this.currentTest);
  });

  after(async () => {
    await window.close();
    await model.close();
  });

  it('begins', async () => {
    await window.openView('Handshake');
    await tell('Begin.');
    await isAtRest();
    await ask('begin');
  });

  for (let round = 1; round <= KILLS; round += 1) {
    it(`is itself again after kill ${round}, and ends what it was doing`, async function () {
      this.timeout(300_000);
      model.requests.length = 0;
      const call = 1 + random.below(LAST_CALL);
      await tell(`Round ${round}.`);
      await eventually(
        async () => model.requests.length,
        (count) => count >= call,
        `call ${call} of the model in round ${round}`,
      );
      await window.killExtensionHost();
      const before = await changes();
      await window.reload();
      await window.openView('Handshake');
      if (isForTheHuman(round)) await approvePlan();
      await everybodyReported(round);
      const told = await ask(String(round));
      await isAtRest();
      checkRequests(told.requests, before, await changes());
      assert.deepEqual(
        told.team.members.map(({ name, status }) => `${name} ${status}`),
        ['alice idle', 'bob idle'],
      );
      for (const name of ['alice', 'bob']) {
        const content = await readFile(fileIn(fileOf(round, name)), 'utf8');
        assert.match(content, new RegExp(`^step ${fileOf(round, name)}\nby toolu_${name}_\\d+\n$`));
        await window.treeRow('Team', name).waitFor();
      }
      assert.equal(await window.badge('Handshake'), undefined);
      checkConversations(round);
      assert.deepEqual(model.problems.splice(0), []);
    });
  }

  const fileIn = (...parts: string[]): string => join(window.folder ?? '', ...parts);

  async function tell(words: string): Promise<void> {
    await window.runCommand('Handshake: Send to the Lead…');
    await window.answerInput(words);
  }

  /** What another extension is told, once nothing runs any more. */
  async function ask(name: string): Promise<z.infer<typeof answers>> {
    await window.runCommand('Asker: Write Down What the Team Says');
    await window.answerInput(name);
    const text = await eventually(
      () => readOr(fileIn(`answers-${name}.json`), ''),
      (content) => content !== '',
      `the answers of the API in round ${name}`,
    );
    return answers.parse(JSON.parse(text));
  }

  async function isAtRest(): Promise<void> {
    await eventually(
      async () => {
        const text = await readOr(fileIn('.team', 'config.json'), '{"members":[]}');
        return roster.parse(JSON.parse(text)).members.map(({ name, status }) => `${name} ${status}`);
      },
      (members) => members.join() === 'alice idle,bob idle',
      'everybody to be idle',
    );
  }

  /** What the log says of requests, in its order. */
  async function changes(): Promise<string[]> {
    const lines = (await readOr(fileIn('.team', 'log.jsonl'), '')).split('\n').slice(0, -1);
    return lines.flatMap((line) => {
      const { event, request_id: id, change } = logLine.parse(JSON.parse(line));
      return event === 'request' ? [`${id} ${change}`] : [];
    });
  }

  async function approvePlan(): Promise<void> {
    const row = await eventually(
      async () =>
        (await window.treeRows('Requests')).find(({ spoken }) => /waits for a decision$/.test(spoken)),
      (found) => found !== undefined,
      'the plan that waits for the human',
    );
    const id = /([0-9a-f]{8})$/.exec(row?.description ?? '')?.[1] ?? '';
    await window.clickInlineAction('Requests', id, 'Approve');
  }

  /** The lead's model has been shown both reports of the round. */
  async function everybodyReported(round: number): Promise<void> {
    await eventually(
      async () => lastHeard('lead')?.mail.map(({ content }) => content) ?? [],
      (mail) => mail.includes(`alice did ${round}.`) && mail.includes(`bob did ${round}.`),
      `the reports of round ${round}`,
    );
  }

  function lastHeard(member: string) {
    const body = model.requests.findLast((each) => each.member === member && each.body !== undefined)?.body;
    return body && hear(body.messages.map(toTurn));
  }

  /** Everything is told once, and every file is written once. */
  function checkConversations(round: number): void {
    const count = (texts: readonly string[], wanted: string): number =>
      texts.filter((each) => each === wanted).length;
    for (const name of ['alice', 'bob']) {
      const heard = lastHeard(name);
      const mail = heard?.mail.map(({ content }) => content) ?? [];
      const reports = lastHeard('lead')?.mail.map(({ content }) => content) ?? [];
      for (let each = 1; each <= round; each += 1) {
        assert.equal(count(mail, `Work ${each}.`), 1, `Work ${each}. to ${name}`);
        assert.equal(count(reports, `${name} did ${each}.`), 1, `the report of ${name} on ${each}`);
        assert.equal(count(lastHeard('lead')?.words ?? [], `Round ${each}.`), 1, `Round ${each}.`);
        const written = heard?.calls.filter(
          (call) => call.name === 'write_file' && call.input.path === fileOf(each, name) && !call.failed,
        );
        assert.ok((written?.length ?? 0) <= 1, `${fileOf(each, name)} was written ${written?.length} times`);
      }
    }
  }

  function checkRequests(
    told: readonly z.infer<typeof request>[],
    before: readonly string[],
    after: readonly string[],
  ): void {
    for (const { requestId, status, decidedBy } of told) {
      const is = `${status} by ${decidedBy}`;
      assert.equal(is, ended.get(requestId) ?? is, `request ${requestId}`);
      if (status !== 'pending') ended.set(requestId, is);
    }
    const ids = told.map(({ requestId }) => requestId);
    for (const id of ended.keys()) assert.ok(ids.includes(id), `request ${id} is lost`);
    // The log goes on where it was, and no request ends in it twice.
    assert.deepEqual(after.slice(0, before.length), before);
    for (const line of before) assert.ok(ids.includes(line.split(' ')[0] ?? ''), `${line}, and then lost`);
    const ends = after.filter((line) => !/opened$|overdue$/.test(line)).map((line) => line.split(' ')[0]);
    assert.equal(new Set(ends).size, ends.length, 'a request ended twice');
    assert.ok(told.every(({ status }) => status !== 'pending'));
  }
});

async function readOr(file: string, missing: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return missing;
    throw error;
  }
}
