import * as fs from 'node:fs';
import * as path from 'node:path';
import type { Core } from '../../src/agent/coreApi';
import { Refusal, type TeamMessage } from '../../src/protocol';
import { StorageError } from '../../src/store';
import { isGone } from '../../src/team/member';
import { TeamError } from '../../src/team/team';
import { BY_HAND, CHAIN } from './boardMinds';

/** What the human of the scenario still has to do; it goes by what is in the team, so that it can go on after a crash. */
interface Act {
  /** Whether its time has come. */
  isDue(): boolean;
  /** Whether it has had its effect, in this life or an earlier one. */
  isDone(): boolean;
  do(): Promise<unknown>;
}

/** More than any faults of a run explain. */
const MAX_RETRIES = 20;

/** The human at a team, and a program that appends to inbox files. */
export class Human {
  readonly #acts: readonly Act[];
  /** Acts that are known to have had their effect; nothing undoes one. */
  readonly #done = new Set<Act>();
  /** Members whose turn failed, and who have not been let try again. */
  readonly #failed = new Set<string>();
  #retries = 0;

  /** What members have been told or will be, as `name incarnation` and the texts. */
  readonly #told = new Map<string, string[]>();

  private constructor(
    private readonly core: Core,
    private readonly root: string,
    /** What the human has read; what goes wrong with an act of its own is added. */
    private readonly told: string[],
  ) {
    this.#acts = this.#allActs();
  }

  /** Looks at what there is, and plays on from there. */
  static async play(core: Core, root: string, told: string[]): Promise<void> {
    const human = new Human(core, root, told);
    const listening = core.on((event) => {
      if (event.type === 'message') human.#note(event.message);
      else if (event.type === 'turn_ended' && event.error) human.#failed.add(event.member);
    });
    try {
      await human.#look();
      await human.#play();
    } finally {
      listening.dispose();
    }
  }

  async #look(): Promise<void> {
    for (const { name, status } of this.core.members()) if (status === 'failed') this.#failed.add(name);
    for (const name of ['lead', ...this.core.members().map((member) => member.name)]) {
      for (const message of this.core.unread(name)) this.#note(message);
      for (const { mail } of await this.core.transcript(name)) mail?.forEach((each) => void this.#note(each));
    }
  }

  #note({ to, toIncarnation, content }: TeamMessage): void {
    const key = `${to} ${toIncarnation}`;
    this.#told.set(key, [...(this.#told.get(key) ?? []), content]);
  }

  /**
   * Plays to the end of the scenario.
   * @throws when the team comes to rest before it: something hangs
   */
  async #play(): Promise<void> {
    let changed = true;
    let signal: () => void = () => undefined;
    const listening = this.core.on(() => {
      changed = true;
      signal();
    });
    try {
      for (;;) {
        changed = false;
        if (await this.#step()) continue;
        if (await this.#isOver()) break;
        if (changed) continue;
        const news = new Promise<'news'>((resolve) => {
          signal = () => resolve('news');
        });
        const rest = this.core.whenIdle(300_000).then(() => 'rest' as const);
        if ((await Promise.race([news, rest])) === 'rest' && !changed) {
          // At rest with nothing heard: whoever waits now would wait for ever.
          if (!(await this.#step()) && !(await this.#isOver()))
            throw new Error(`The team hangs.\n${this.#describe()}`);
        }
      }
    } finally {
      listening.dispose();
    }
  }

  /** @returns whether something was done */
  async #step(): Promise<boolean> {
    if (await this.#takeUpFailed()) return true;
    for (const act of this.#acts) {
      if (this.#isDone(act) || !act.isDue()) continue;
      await this.#try(act.do());
      return true;
    }
    return this.#answerPending();
  }

  #isDone(act: Act): boolean {
    if (this.#done.has(act)) return true;
    const done = act.isDone();
    if (done) this.#done.add(act);
    return done;
  }

  /** Lets those whose turn failed try again. */
  async #takeUpFailed(): Promise<boolean> {
    const [name] = this.#failed;
    if (name === undefined) return false;
    this.#failed.delete(name);
    this.#retries += 1;
    if (this.#retries > MAX_RETRIES) throw new Error(`${name} does not get on. ${this.#describe()}`);
    await this.core.retry(name);
    return true;
  }

  /** A person reads what went wrong, and does it again. */
  async #try(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      // Somebody was quicker, or it was withdrawn while the click was under way.
      if (error instanceof Refusal) return;
      if (!(error instanceof StorageError || error instanceof TeamError)) throw error;
      this.told.push(error.message);
    }
  }

  #allActs(): Act[] {
    const { core } = this;
    const all = (...names: string[]) => names.every((name) => core.member(name) !== undefined);
    const isGoneOnce = (name: string) => {
      const member = core.member(name);
      return member !== undefined && (isGone(member) || member.incarnation > 1);
    };
    const begin = (name: string, prompt: string): Act => ({
      isDue: () => all('alice', 'bob'),
      isDone: () => core.member(name) !== undefined,
      do: () => core.spawn({ name, role: 'helper', prompt }, 'human'),
    });
    return [
      {
        isDue: () => true,
        isDone: () => this.#isKnown('lead', 'Begin.'),
        do: () => core.sendMessage('lead', 'Begin.'),
      },
      begin('carol', 'Begin, carol.'),
      begin('dave', 'Begin, dave.'),
      this.#append('carol', { type: 'message', from: 'ci', content: 'Foreign one.' }),
      this.#append('lead', { type: 'message', from: 'ci', content: 'Foreign two.' }),
      {
        isDue: () => all('alice', 'bob', 'carol'),
        isDone: () => this.#isKnown('carol', 'All hands.'),
        do: () => core.broadcast('All hands.'),
      },
      {
        isDue: () =>
          core.member('dave')?.status === 'working' || (all('dave') && core.unread('dave').length === 0),
        isDone: () => isGoneOnce('dave'),
        do: () => core.forceStop('dave'),
      },
      {
        isDue: () => this.#wasAskedToRun(),
        isDone: () => isGoneOnce('bob') || this.#isKnown('bob', 'Urgent.'),
        do: () => core.sendMessage('bob', 'Urgent.'),
      },
      {
        isDue: () => this.#isKnown('carol', 'Foreign one.'),
        isDone: () => this.#isKnown('carol', 'tidy'),
        do: () => core.requestPlan('carol', 'tidy'),
      },
      {
        isDue: () => core.tasks().length > 0,
        isDone: () => core.tasks().some(({ subject }) => subject === BY_HAND),
        do: () => core.createTask({ subject: BY_HAND, description: 'For whoever is free.', priority: 5 }),
      },
      this.#askToGo('carol', 'c1.txt'),
      this.#askToGo('alice', 'a2.txt'),
      {
        isDue: () => isGoneOnce('bob'),
        isDone: () => core.member('bob')?.incarnation === 2,
        do: () => core.spawn({ name: 'bob', role: 'helper', prompt: 'Second bob.' }, 'human'),
      },
    ];
  }

  #askToGo(name: string, whenWritten: string): Act {
    return {
      isDue: () =>
        fs.existsSync(path.join(this.root, whenWritten)) && this.core.member(name)?.status === 'idle',
      isDone: () =>
        this.core
          .requests()
          .some(({ kind, to, from }) => kind === 'shutdown' && to === name && from === 'human'),
      do: () => this.core.requestShutdown(name, 'All is done.'),
    };
  }

  /** As another program does it; the line is never written twice, wherever the first has got to. */
  #append(name: string, line: { type: string; from: string; content: string }): Act {
    const inbox = path.join(this.root, '.team', 'inbox');
    return {
      isDue: () => (name === 'lead' || this.core.member(name) !== undefined) && fs.existsSync(inbox),
      isDone: () => {
        const names = fs.existsSync(inbox) ? fs.readdirSync(inbox) : [];
        const files = names.map((file) => readOr(path.join(inbox, file)));
        return files.some((text) => text.includes(line.content)) || this.#isKnown(name, line.content);
      },
      do: async () => fs.appendFileSync(path.join(inbox, `${name}.jsonl`), `${JSON.stringify(line)}\n`),
    };
  }

  /** Decides what waits for the human in its own time: permissions only when everybody has been called. */
  async #answerPending(): Promise<boolean> {
    const pending = this.core.requests().filter(({ status }) => status === 'pending');
    for (const { requestId, kind, payload, from } of pending) {
      const text = JSON.stringify(payload);
      const isCarolsPlan = kind === 'plan_approval' && from === 'carol';
      const isWrite = kind === 'tool_permission' && text.includes('"write_file"');
      if (kind !== 'team_proposal' && !isCarolsPlan && !(isWrite && this.#isKnown('bob', 'All hands.')))
        continue;
      const approve =
        kind === 'team_proposal' ? text.includes('"require_plan":true') : !text.includes('b2.txt');
      const feedback = approve ? 'Go.' : 'No.';
      await this.#try(this.core.decide({ requestId, approve, feedback, by: 'human', via: 'ui' }));
      return true;
    }
    return false;
  }

  #wasAskedToRun(): boolean {
    return this.core
      .requests()
      .some(
        ({ kind, payload }) => kind === 'tool_permission' && JSON.stringify(payload).includes('make slow'),
      );
  }

  /** Whether the member has been told, or will be. */
  #isKnown(name: string, content: string): boolean {
    const incarnation = name === 'lead' ? 0 : this.core.member(name)?.incarnation;
    return this.#told.get(`${name} ${incarnation}`)?.some((text) => text.includes(content)) ?? false;
  }

  async #wasShown(name: string, content: string): Promise<boolean> {
    const records = await this.core.transcript(name);
    return records.some(({ mail }) => mail?.some((message) => message.content === content) ?? false);
  }

  async #isOver(): Promise<boolean> {
    const states = Object.fromEntries(
      this.core.members().map(({ name, incarnation, status }) => [name, `${incarnation} ${status}`]),
    );
    for (const act of this.#acts) if (!this.#isDone(act)) return false;
    const over =
      states.alice === '1 shutdown' &&
      states.carol === '1 shutdown' &&
      states.dave === '1 shutdown' &&
      states.erin === '1 idle' &&
      states.bob === '2 idle' &&
      this.core.tasks().length === CHAIN.length + 1 &&
      this.core.tasks().every(({ status }) => status === 'completed') &&
      (await this.#wasShown('bob', 'Second bob.'));
    if (!over) return false;
    await this.core.whenIdle();
    // A turn that failed meanwhile is still to be taken up.
    return this.#failed.size === 0;
  }

  #describe(): string {
    const members = this.core
      .members()
      .map(
        ({ name, incarnation, status }) => `${name} ${incarnation} ${status} gate ${this.core.gateOf(name)}`,
      );
    const pending = this.core
      .requests()
      .filter(({ status }) => status === 'pending')
      .map(
        ({ requestId, kind, from, to, payload }) =>
          `${requestId} ${kind} ${from} ${to} ${JSON.stringify(payload)}`,
      );
    const unread = ['lead', ...this.core.members().map(({ name }) => name)].map(
      (name) => `${name}: ${this.core.unread(name).map(({ type, content }) => `${type} ${content}`)}`,
    );
    const said = this.told.map((text) => `said: ${text}`);
    const tasks = this.core
      .tasks()
      .map(({ id, subject, status, owner }) => `${id} ${subject} ${status} ${owner}`);
    return [...members, ...tasks, ...pending, ...unread, `parked: ${this.core.resumable()}`, ...said].join(
      '\n',
    );
  }
}

function readOr(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    // Taken aside between the listing and the reading: it is then on its way into the journal.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
