import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import * as path from 'node:path';
import * as z from 'zod';
import { type OpenTeam, openTeam } from '../../../src/agent/openTeam';
import type { LanguageModel } from '../../../src/model/port';
import { HUMAN } from '../../../src/protocol';
import { createNodeWorkspace } from '../../../src/workspace/node';
import { fileVault } from './fileVault';
import { testSettings } from './settings';

/** A process of its own that opens a team, as another window would; the test's bundle starts itself anew. */
export const CHILD_HOME = 'HANDSHAKE_TEST_TEAM_HOME';

const state = z.object({
  readOnly: z.string(),
  pid: z.number().optional(),
  members: z.array(z.string()),
});
export type WindowState = z.infer<typeof state>;

const answer = z.union([
  z.object({ state }),
  z.object({ event: z.string() }),
  z.object({ failed: z.string() }),
]);
type Answer = z.infer<typeof answer>;

const order = z.object({
  do: z.enum(['open', 'state', 'takeOver', 'spawn', 'dispose']),
  name: z.string().default(''),
});

const BRIEF: LanguageModel = {
  label: 'Brief',
  isDemo: false,
  call: async () => ({
    content: [{ type: 'text', text: 'Done.' }],
    stopReason: 'end_turn',
    usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
    model: 'brief',
  }),
};

export function stateOf(team: OpenTeam): WindowState {
  const why = team.core.readOnly;
  return {
    readOnly: why?.kind ?? '',
    ...(why?.kind === 'held' ? { pid: why.pid } : {}),
    members: team.core.members().map((member) => `${member.name}:${member.status}`),
  };
}

export function runTeamChild(home: string): void {
  const say = (message: Answer) => process.send?.(message);
  let team: OpenTeam | undefined;
  const act = async (raw: unknown): Promise<void> => {
    const { do: what, name } = order.parse(raw);
    if (what === 'open') {
      team = await openTeam({
        workspace: createNodeWorkspace(path.join(home, 'workspace')),
        storageDir: path.join(home, 'storage'),
        vault: fileVault(path.join(home, 'vault')),
        settings: () => testSettings(),
        languageModel: async () => BRIEF,
        log: () => undefined,
        graceMs: 0,
        patienceMs: 1000,
      });
      team.onDidChange((change) => say({ event: change }));
      await team.core.whenIdle();
    }
    if (what === 'takeOver') await team?.takeOver();
    if (what === 'spawn') await team?.core.spawn({ name, role: 'coder', prompt: 'Wait.' }, HUMAN);
    if (what === 'dispose') await team?.dispose();
    if (team) say({ state: stateOf(team) });
  };
  process.on('message', (raw) => {
    act(raw).catch((error: unknown) =>
      say({ failed: error instanceof Error ? error.message : String(error) }),
    );
  });
  process.on('disconnect', () => process.exit(0));
  say({ event: 'ready' });
}

export class TeamChild {
  readonly #events: string[] = [];
  readonly #answers: Answer[] = [];
  readonly #exited: Promise<unknown>;

  private constructor(private readonly process: ChildProcess) {
    this.#exited = once(process, 'exit');
    process.on('message', (raw) => {
      const read = answer.parse(raw);
      if ('event' in read) this.#events.push(read.event);
      else this.#answers.push(read);
    });
  }

  static async start(bundle: string, home: string): Promise<TeamChild> {
    const child = new TeamChild(fork(bundle, [], { env: { ...process.env, [CHILD_HOME]: home } }));
    await child.hears('ready');
    return child;
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  private get hasEnded(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  async hears(event: string): Promise<void> {
    while (!this.#events.includes(event)) await this.#next();
    this.#events.splice(this.#events.indexOf(event), 1);
  }

  /** @throws what the order failed with */
  async order(what: z.input<typeof order>['do'], name = ''): Promise<WindowState> {
    this.process.send({ do: what, name });
    for (;;) {
      const [read] = this.#answers.splice(0, 1);
      if (read && 'state' in read) return read.state;
      if (read && 'failed' in read) throw new Error(read.failed);
      await this.#next();
    }
  }

  signal(name: NodeJS.Signals): void {
    this.process.kill(name);
  }

  async kill(): Promise<void> {
    if (!this.hasEnded) this.process.kill('SIGKILL');
    await this.#exited;
  }

  async #next(): Promise<void> {
    await Promise.race([once(this.process, 'message'), this.#exited]);
    if (this.hasEnded) throw new Error('The other window ended.');
  }
}
