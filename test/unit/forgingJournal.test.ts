import * as assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { isOpen, REQUEST_KINDS } from '../../src/protocol';
import { Journal, memoryVault } from '../../src/store';
import { JournalKey } from '../../src/store/journalKey';
import { assertNamedOnce, coreFacts } from './support/forgedScene';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam, type TestTeam } from './support/team';
import { recording } from './support/turns';

/** The files of a journal, as somebody with an editor has them. */
class JournalFiles {
  constructor(
    readonly dir: string,
    readonly vault: string,
    /** A copy of the folder from when eve's plan was approved, which was taken back later. */
    readonly older: string,
  ) {}

  async segments(): Promise<string[]> {
    return (await fs.readdir(this.dir)).filter((name) => name.endsWith('.jsonl')).sort();
  }

  /** Changes the lines of the first segment that has one that fits. */
  async edit(fits: RegExp, change: (lines: string[], at: number) => void): Promise<void> {
    for (const name of await this.segments()) {
      const file = path.join(this.dir, name);
      const lines = (await fs.readFile(file, 'utf8')).split('\n').slice(0, -1);
      const at = lines.findIndex((line) => fits.test(line));
      if (at < 0) continue;
      change(lines, at);
      await fs.writeFile(file, lines.map((line) => `${line}\n`).join(''));
      return;
    }
    assert.fail(`No line of the journal fits ${fits}.`);
  }

  /** All records in order, without what proves them. */
  async records(): Promise<object[]> {
    const records: object[] = [];
    for (const name of await this.segments()) {
      const lines = (await fs.readFile(path.join(this.dir, name), 'utf8')).split('\n').slice(0, -1);
      for (const line of lines) {
        const { record, batch } = JSON.parse(line);
        records.push(...(batch ?? (record === undefined ? [] : [record])));
      }
    }
    return records;
  }
}

interface Ids {
  /** Bob's plans: the first was rejected, the second waits. */
  rejected: string;
  waiting: string;
}

/** One way to lay hands on the journal; a new way is a new row. */
interface Tampering {
  way: string;
  tamper(journal: JournalFiles, ids: Ids): Promise<void>;
  /** What the user is told. */
  says: RegExp;
  /** Set where nothing proves anything any more: what stands there is taken over, and permits nothing. */
  isUnproven?: true;
  /** Set where every line counts, wherever it stands: then the files are left as they are, and it is said again. */
  isMisplaced?: true;
}

const REJECTION = /"t":"decided".*"status":"rejected"/;
const APPROVAL = /"t":"decided".*"status":"approved"/;
const DAMAGED = /journal.*, line \d+(, is damaged and was left out)?: /;
const OLDER = /The journal is older than it was: /;
const LOST = /not in the secret storage of this machine any more\. This is no sign of a forgery/;

const approval = (requestId: string) => ({
  t: 'decided',
  decision: { requestId, status: 'approved', decidedBy: 'human', via: 'ui', decidedAt: 1 },
});

/** A line that goes on from the one before as it should, signed with a key of the forger's. */
function signed(after: string, record: object): string {
  const { seq, segment, mac } = JSON.parse(after);
  const body = JSON.stringify({ seq: seq + 1, segment, prev: mac, record }).slice(0, -1);
  return `${body},"mac":"${JournalKey.random().code(Buffer.from(body))}"}`;
}

const LAST = /./;
const append =
  (make: (lines: readonly string[], ids: Ids) => string): Tampering['tamper'] =>
  async (journal, ids) => {
    const [newest] = (await journal.segments()).slice(-1);
    const file = path.join(journal.dir, newest ?? '');
    const lines = (await fs.readFile(file, 'utf8')).split('\n').slice(0, -1);
    await fs.appendFile(file, `${make(lines, ids)}\n`);
  };

const TAMPERINGS: readonly Tampering[] = [
  {
    way: 'a rejection is made an approval',
    tamper: (journal) =>
      journal.edit(REJECTION, (lines, at) => {
        lines[at] = (lines[at] ?? '').replace('"status":"rejected"', '"status":"approved"');
      }),
    says: DAMAGED,
  },
  {
    way: 'the command that a permission asks for is made another',
    tamper: (journal) =>
      journal.edit(/rm -rf b/, (lines, at) => {
        lines[at] = (lines[at] ?? '').replace('rm -rf b', 'true    ');
      }),
    says: DAMAGED,
  },
  {
    way: 'the name of who asks is made another',
    tamper: (journal) =>
      journal.edit(/"t":"opened".*"plan":"Second\."/, (lines, at) => {
        lines[at] = (lines[at] ?? '').replaceAll('"bob"', '"eve"');
      }),
    says: DAMAGED,
  },
  {
    way: 'a rejection is taken away',
    tamper: (journal) => journal.edit(REJECTION, (lines, at) => void lines.splice(at, 1)),
    says: /missing/,
  },
  {
    way: 'the lines that took an approval back are taken away',
    tamper: (journal) => journal.edit(/"t":"work".*"name":"eve"/, (lines, at) => void lines.splice(at, 1)),
    says: /missing/,
  },
  {
    way: 'the end is taken away',
    tamper: (journal) => journal.edit(LAST, (lines) => void lines.splice(-3)),
    says: OLDER,
  },
  {
    way: 'a decision and the line before it are swapped',
    tamper: (journal) =>
      journal.edit(REJECTION, (lines, at) => {
        lines.splice(at - 1, 2, lines[at] ?? '', lines[at - 1] ?? '');
      }),
    says: DAMAGED,
    isMisplaced: true,
  },
  {
    way: 'a decision is put before its request',
    tamper: (journal) =>
      journal.edit(REJECTION, (lines, at) => {
        lines.splice(2, 0, ...lines.splice(at, 1));
      }),
    says: DAMAGED,
    isMisplaced: true,
  },
  {
    way: 'an approval is copied to the end',
    tamper: append((lines) => lines.find((line) => APPROVAL.test(line)) ?? assert.fail()),
    says: DAMAGED,
  },
  {
    way: 'an approval is copied to the end, with the id of what waits',
    tamper: append((lines, { waiting }) =>
      (lines.find((line) => APPROVAL.test(line)) ?? assert.fail()).replace(
        /"requestId":"[0-9a-f]{8}"/,
        `"requestId":"${waiting}"`,
      ),
    ),
    says: DAMAGED,
  },
  {
    way: 'an approval goes on from the last line, signed with another key',
    tamper: append((lines, { waiting }) => signed(lines.at(-1) ?? '', approval(waiting))),
    says: DAMAGED,
  },
  {
    way: 'an approval goes on from the last line, without a code',
    tamper: append((lines, { waiting }) =>
      JSON.stringify({ seq: JSON.parse(lines.at(-1) ?? '').seq + 1, ...approval(waiting) }),
    ),
    says: DAMAGED,
  },
  {
    way: 'an approval stands in a segment of its own',
    tamper: async ({ dir }, { waiting }) => {
      const lines = [
        { journal: 1, segment: 900, previous: null },
        { seq: 1, ...approval(waiting) },
      ];
      await fs.writeFile(
        path.join(dir, '000900.jsonl'),
        lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
      );
    },
    says: DAMAGED,
  },
  {
    way: 'lines of another team are put to the end',
    tamper: async (journal, ids) => {
      const other = await openTeam(
        new ScriptedModel({}).always('zoe', [text('Read.')]).always('lead', [text('Seen.')]),
      );
      await other.core.spawn({ name: 'zoe', role: 'spy', prompt: 'Go.' }, 'human');
      await other.core.whenIdle();
      await other.core.dispose();
      const file = path.join(other.storageDir, 'journal', '000001.jsonl');
      const line = (await fs.readFile(file, 'utf8')).split('\n').find((each) => each.includes('"zoe"'));
      await append(() => line ?? assert.fail())(journal, ids);
    },
    says: DAMAGED,
  },
  {
    way: 'an older copy takes its place',
    tamper: async ({ dir, older }) => {
      await fs.rm(dir, { recursive: true });
      await fs.cp(older, dir, { recursive: true });
    },
    says: OLDER,
  },
  {
    way: 'all of it is gone',
    tamper: ({ dir }) => fs.rm(dir, { recursive: true }),
    says: OLDER,
  },
  {
    way: 'all of it is written anew, with an approval, as the version that had no codes did',
    tamper: async (journal, { waiting }) => {
      const records = [...(await journal.records()), approval(waiting)];
      await fs.rm(journal.dir, { recursive: true });
      await fs.mkdir(journal.dir);
      const lines = [
        { journal: 1, segment: 1, previous: null },
        ...records.map((record, at) => ({ seq: at + 1, ...record })),
      ];
      await fs.writeFile(
        path.join(journal.dir, '000001.jsonl'),
        lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
      );
    },
    says: DAMAGED,
  },
  {
    way: 'the key is lost',
    tamper: ({ vault }) => fs.rm(vault),
    says: LOST,
    isUnproven: true,
  },
  {
    way: 'the key is lost, and an approval stands at the end',
    tamper: async (journal, ids) => {
      await fs.rm(journal.vault);
      await append((lines, { waiting }) => signed(lines.at(-1) ?? '', approval(waiting)))(journal, ids);
    },
    says: LOST,
    isUnproven: true,
  },
];

/** Nothing of it was written with the team's key: the human is asked first, and it still permits nothing. */
const REPLACED: readonly Pick<Tampering, 'way' | 'tamper'>[] = [
  {
    way: 'the journal of another team takes its place',
    tamper: async ({ dir }) => {
      const other = await openTeam(
        new ScriptedModel({}).always('zoe', [text('Read.')]).always('lead', [text('Seen.')]),
      );
      await other.core.spawn({ name: 'zoe', role: 'spy', prompt: 'Go.' }, 'human');
      await other.core.whenIdle();
      await other.core.dispose();
      await fs.rm(dir, { recursive: true });
      await fs.cp(path.join(other.storageDir, 'journal'), dir, { recursive: true });
    },
  },
  {
    way: 'all of it is written anew, with an approval, and signed with another key',
    tamper: async (journal, { waiting }) => {
      const records = [...(await journal.records()), approval(waiting)];
      await fs.rm(journal.dir, { recursive: true });
      const forged = await Journal.open(journal.dir, {
        vault: memoryVault(),
        onDamage: () => assert.fail('it is the forger’s own'),
      });
      for (const record of records) await forged.journal.append([{ ...record }]);
      await forged.journal.close();
    },
  },
  {
    way: 'the key is exchanged for another',
    tamper: async ({ vault }) => {
      const content = JSON.parse(await fs.readFile(vault, 'utf8'));
      await fs.writeFile(vault, JSON.stringify({ ...content, key: JournalKey.random().hex }));
    },
  },
];

describe('forging: the journal', function () {
  this.timeout(60_000);
  afterEach(closeTeams);

  /** A team in which a request of every kind waits, approvals and rejections have been given, and one taken back. */
  async function closedTeam() {
    const log: string[] = [];
    const model = new ScriptedModel({
      alice: [[call('bash', { command: 'rm -rf b' })]],
      bob: [
        [call('plan_approval', { plan: 'First.' })],
        [text('Waiting.')],
        [call('plan_approval', { plan: 'Second.' })],
      ],
      eve: [[call('plan_approval', { plan: 'Mine.' })]],
      lead: [[call('propose_team', { members: [{ name: 'zoe', role: 'coder', prompt: 'Work.' }] })]],
    });
    for (const name of ['alice', 'bob', 'carol', 'eve', 'lead']) model.always(name, [text('Read.')]);
    const team = await openTeam(model, {}, undefined, { workspace: recording(log) });
    const answer = { by: 'human', via: 'ui' } as const;
    const dir = path.join(team.storageDir, 'journal');
    const older = path.join(path.dirname(team.storageDir), 'older');
    await team.core.spawn({ name: 'eve', role: 'coder', prompt: 'Go.', requirePlan: true }, 'human');
    const mine = await team.pending('plan_approval');
    await team.core.decide({ requestId: mine.requestId, approve: true, ...answer });
    await team.core.whenIdle();
    await fs.cp(dir, older, { recursive: true });
    assert.equal(team.core.gateOf('eve'), 'approved');
    await team.core.spawn({ name: 'bob', role: 'coder', prompt: 'Go.', requirePlan: true }, 'human');
    const first = await team.pending('plan_approval');
    await team.core.whenIdle();
    await team.core.decide({ requestId: first.requestId, approve: false, ...answer });
    const second = await team.pending('plan_approval');
    await team.core.requestPlan('eve');
    await team.core.sendToLead('Propose zoe.');
    await team.core.spawn({ name: 'carol', role: 'coder', prompt: 'Go.' }, 'human');
    await team.core.whenIdle();
    await team.core.requestShutdown('carol');
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    for (const kind of REQUEST_KINDS) await team.pending(kind);
    await team.core.whenIdle();
    const told = coreFacts(team.core);
    await team.core.dispose();
    const files = new JournalFiles(dir, path.join(path.dirname(team.storageDir), 'vault.json'), older);
    return { team, log, model, told, files, ids: { rejected: first.requestId, waiting: second.requestId } };
  }

  /** What the tampering may not have brought about. */
  function assertNothingWon(again: TestTeam, told: ReturnType<typeof coreFacts>, isUnproven: boolean): void {
    for (const { requestId, status, decidedBy, feedback, payload, from } of again.core.requests()) {
      const before = told.requests.find((request) => request.requestId === requestId);
      assert.ok(before, `${requestId} was never opened`);
      assert.deepEqual([payload, from], [before.payload, before.from]);
      if (status === 'pending' || status === 'cancelled' || isUnproven) continue;
      assert.deepEqual([status, decidedBy, feedback], [before.status, before.decidedBy, before.feedback]);
    }
    const before = new Map(told.roster.map((member) => [member.name, member]));
    for (const { name, status } of again.core.members()) {
      assert.ok(before.has(name), `${name} was never started`);
      assert.notEqual(status, 'working');
      const opened = isOpen(again.core.gateOf(name)) && !isOpen(before.get(name)?.gate ?? 'required');
      assert.equal(opened, false, `the gate of ${name} has opened`);
    }
  }

  const untimed = (team: TestTeam) => team.core.requests().map(({ decidedAt, ...request }) => request);

  for (const { way, tamper, says, isUnproven = false, isMisplaced = false } of TAMPERINGS) {
    it(`${way}: it is said, and it wins nothing`, async () => {
      const { team, log, model, told, files, ids } = await closedTeam();
      const calls = model.requests.length;
      await tamper(files, ids);
      const again = await team.reopen();
      await again.core.whenIdle();
      assert.match(again.notices().join('\n'), says);
      assertNothingWon(again, told, isUnproven);
      assert.deepEqual([log, model.requests.length], [[], calls], 'nothing runs of itself');
      // The team goes on, and what was found is settled: the next window has nothing to say of it.
      model.always('dan', [text('Read.')]);
      await again.core.spawn({ name: 'dan', role: 'coder', prompt: 'Go.', requirePlan: true }, 'human');
      await again.core.whenIdle();
      const stands = coreFacts(again.core);
      const third = await again.reopen();
      if (!isMisplaced) assert.doesNotMatch(third.notices().join('\n'), says);
      assert.deepEqual(untimed(third), untimed(again), 'and stands as it was');
      assert.deepEqual(
        third.core.members().map(({ name }) => [name, third.core.gateOf(name)]),
        stands.roster.map(({ name, gate }) => [name, gate]),
      );
    });
  }

  for (const { way, tamper } of REPLACED) {
    it(`${way}: it is not run before the human adopts it, and wins nothing then`, async () => {
      const { team, log, model, files, ids } = await closedTeam();
      const calls = model.requests.length;
      await tamper(files, ids);
      const before = await files.records();
      await assert.rejects(team.reopen(), { name: 'ForeignKeyError' });
      assert.deepEqual(await files.records(), before, 'it is left as it is');
      const again = await team.reopen(model, { acceptsForeignKey: true });
      await again.core.whenIdle();
      assert.match(
        again.notices().join('\n'),
        /signed with another key.*It was adopted.*to be approved again/,
      );
      for (const { name, status } of again.core.members()) {
        assert.notEqual(status, 'working');
        assert.equal(isOpen(again.core.gateOf(name)), false, `the gate of ${name} is open`);
      }
      assert.deepEqual([log, model.requests.length], [[], calls], 'nothing runs of itself');
      const third = await again.reopen(model, { acceptsForeignKey: false });
      assert.deepEqual(untimed(third), untimed(again), 'and stands as it was');
      assert.doesNotMatch(third.notices().join('\n'), /older than it was|damaged/);
    });
  }

  it('untouched, it is as it was, and nothing is said', async () => {
    const { team, told } = await closedTeam();
    const again = await team.reopen();
    assert.deepEqual(coreFacts(again.core).requests, told.requests);
    assert.deepEqual(
      coreFacts(again.core).roster.map(({ name, gate }) => [name, gate]),
      told.roster.map(({ name, gate }) => [name, gate]),
    );
    assert.deepEqual(
      again.notices().filter((notice) => /journal|key/i.test(notice)),
      [],
    );
    assertNamedOnce([...TAMPERINGS, ...REPLACED].map(({ way }) => way));
  });
});
