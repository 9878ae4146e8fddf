import type { Core } from '../agent/coreApi';
import type { HandshakeRequest } from '../protocol';
import { HUMAN } from '../protocol';
import type { Disposable } from '../team/events';
import { Emitter } from '../team/events';

/**
 * Where a decision of the human's comes from: a click in a tree (`ui`), a notification or quick pick (`prompt`),
 * or a command with an id.
 */
export type Origin = 'ui' | 'prompt' | 'command';

interface Decided {
  approve: boolean;
  done: Promise<HandshakeRequest>;
}

/** Milliseconds in which a second click of the same meaning is taken for a double click. */
const DOUBLE_CLICK = 2000;

/**
 * The human's decisions from trees, notifications and commands on their way into the core. A second click
 * on the same request joins the first, while it is written and for a moment after: a double click is one
 * decision, and nobody is told "already decided" about their own.
 */
export class Decider {
  readonly #running = new Map<string, Decided>();
  #last: (Decided & { requestId: string; at: number }) | undefined;
  readonly #changed: Emitter<string>;

  constructor(
    private readonly core: () => Promise<Pick<Core, 'decide'>>,
    onListenerError: (error: unknown) => void,
    private readonly now: () => number = Date.now,
  ) {
    this.#changed = new Emitter(onListenerError);
  }

  isDeciding(requestId: string): boolean {
    return this.#running.has(requestId);
  }

  /** Told when a decision of this seat starts or ends, with the request's id. */
  onDidChange(listener: (requestId: string) => void): Disposable {
    return this.#changed.on(listener);
  }

  /** @throws {Refusal} with the first check that fails */
  async decide(
    requestId: string,
    approve: boolean,
    feedback: string | undefined,
    origin: Origin,
  ): Promise<HandshakeRequest> {
    const running = this.#running.get(requestId);
    if (running && running.approve === approve) return running.done;
    const last = this.#last;
    const again = last?.requestId === requestId && last.approve === approve;
    if (origin !== 'command' && again && this.now() - last.at < DOUBLE_CLICK) return last.done;
    const done = this.#decide(requestId, approve, feedback, origin);
    if (running) return done;
    this.#running.set(requestId, { approve, done });
    this.#changed.fire(requestId);
    try {
      const decided = await done;
      this.#last = { requestId, approve, done, at: this.now() };
      return decided;
    } finally {
      this.#running.delete(requestId);
      this.#changed.fire(requestId);
    }
  }

  async #decide(
    requestId: string,
    approve: boolean,
    feedback: string | undefined,
    origin: Origin,
  ): Promise<HandshakeRequest> {
    const core = await this.core();
    return core.decide({
      requestId,
      approve,
      by: HUMAN,
      via: origin === 'command' ? 'command' : 'ui',
      ...(origin === 'prompt' ? { prompted: true } : {}),
      ...(feedback ? { feedback } : {}),
    });
  }
}
