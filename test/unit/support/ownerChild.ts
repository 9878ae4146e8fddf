import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import * as z from 'zod';
import { claimOwnership, type Ownership } from '../../../src/store/ownership';

/**
 * A process of its own that claims a team, as another window would. The test's bundle starts itself anew
 * with these variables set.
 */
export const CHILD_DIR = 'HANDSHAKE_TEST_OWNER_DIR';

const toChild = z.discriminatedUnion('do', [
  z.object({ do: z.literal('claim'), takeOver: z.boolean() }),
  z.object({ do: z.literal('isHeld') }),
  z.object({ do: z.literal('release') }),
]);
type ToChild = z.infer<typeof toChild>;

const fromChild = z.discriminatedUnion('said', [
  z.object({ said: z.literal('ready') }),
  z.object({ said: z.literal('owner'), epoch: z.number(), forced: z.string().optional() }),
  z.object({ said: z.literal('held'), pid: z.number() }),
  z.object({ said: z.literal('isHeld'), value: z.boolean() }),
  z.object({ said: z.literal('asked'), by: z.number() }),
  z.object({ said: z.literal('lost') }),
  z.object({ said: z.literal('released') }),
  z.object({ said: z.literal('failed'), text: z.string() }),
]);
export type FromChild = z.infer<typeof fromChild>;

/** What runs in the child. */
export function runOwnerChild(dir: string): void {
  const say = (message: FromChild) => process.send?.(message);
  const owners: Ownership[] = [];
  const act = async (message: ToChild): Promise<void> => {
    if (message.do === 'isHeld') say({ said: 'isHeld', value: owners.some((owner) => owner.isHeld()) });
    else if (message.do === 'release') {
      await Promise.all(owners.map((owner) => owner.release()));
      say({ said: 'released' });
    } else {
      const claim = await claimOwnership(dir, {
        takeOver: message.takeOver,
        onAsked: async ({ pid }) => void say({ said: 'asked', by: pid }),
        patience: 500,
      });
      if ('heldBy' in claim) say({ said: 'held', pid: claim.heldBy.pid });
      else {
        const { owner } = claim;
        owners.push(owner);
        owner.onLost(() => say({ said: 'lost' }));
        const { forced } = claim;
        say({ said: 'owner', epoch: owner.epoch, ...(forced === undefined ? {} : { forced }) });
      }
    }
  };
  process.on('message', (raw) => {
    act(toChild.parse(raw)).catch((error: unknown) => say({ said: 'failed', text: String(error) }));
  });
  process.on('disconnect', () => process.exit(0));
  say({ said: 'ready' });
}

export class OwnerChild {
  readonly #said: FromChild[] = [];
  readonly #exited: Promise<unknown>;

  private constructor(private readonly process: ChildProcess) {
    this.#exited = once(process, 'exit');
    process.on('message', (raw) => {
      this.#said.push(fromChild.parse(raw));
    });
  }

  static async start(bundle: string, dir: string): Promise<OwnerChild> {
    const child = new OwnerChild(fork(bundle, [], { env: { ...process.env, [CHILD_DIR]: dir } }));
    await child.hears('ready');
    return child;
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  private get hasEnded(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  /** The next thing of that kind the child says, or said since the last call for it. */
  async hears<K extends FromChild['said']>(kind: K): Promise<Extract<FromChild, { said: K }>> {
    for (;;) {
      const index = this.#said.findIndex((message) => message.said === kind || message.said === 'failed');
      const [message] = index === -1 ? [] : this.#said.splice(index, 1);
      if (message?.said === 'failed') throw new Error(message.text);
      if (message !== undefined && isSaid(message, kind)) return message;
      await Promise.race([once(this.process, 'message'), this.#exited]);
      if (this.hasEnded) throw new Error(`The child ended before it said '${kind}'.`);
    }
  }

  said(kind: FromChild['said']): boolean {
    return this.#said.some((message) => message.said === kind);
  }

  tell(message: ToChild): void {
    this.process.send(message);
  }

  /** @returns the epoch, or the pid of the one that has the team */
  async claim(takeOver = false): Promise<{ epoch: number; forced?: string } | { pid: number }> {
    this.tell({ do: 'claim', takeOver });
    for (;;) {
      if (this.said('held')) return { pid: (await this.hears('held')).pid };
      if (this.said('owner') || this.said('failed')) return this.hears('owner');
      await Promise.race([once(this.process, 'message'), this.#exited]);
      if (this.hasEnded) throw new Error('The child ended before it answered.');
    }
  }

  async isHeld(): Promise<boolean> {
    this.tell({ do: 'isHeld' });
    return (await this.hears('isHeld')).value;
  }

  signal(name: NodeJS.Signals): void {
    this.process.kill(name);
  }

  async kill(): Promise<void> {
    if (!this.hasEnded) this.process.kill('SIGKILL');
    await this.#exited;
  }
}

function isSaid<K extends FromChild['said']>(
  message: FromChild,
  kind: K,
): message is Extract<FromChild, { said: K }> {
  return message.said === kind;
}
