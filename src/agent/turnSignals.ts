/** Why a loop's model call, tools or waits are cut off. */
export type Interruption = 'interrupt' | 'leave' | 'stop' | 'suspend';

/** What ends the model call and the tools of a turn. */
export class TurnSignals {
  #call = new AbortController();
  #tools = new AbortController();

  /** A turn begins. */
  renew(): void {
    this.#call = new AbortController();
    this.#tools = new AbortController();
  }

  /** For the next model call of the turn; one that was cut off stays so. */
  nextCall(): AbortSignal {
    if (!this.#call.signal.aborted) this.#call = new AbortController();
    return this.#call.signal;
  }

  get tools(): AbortSignal {
    return this.#tools.signal;
  }

  /** A leaving member lets its running tool finish; an interrupt or a stop does not. */
  cut(why: Interruption): void {
    this.#call.abort(why);
    if (why !== 'leave') this.#tools.abort(why);
  }
}
