import { CallQueue } from './callQueue';
import { type LanguageModel, ModelError, needsKey } from './port';
import { afterTries, concernsAll, pauseAfter } from './retry';
import { StallWatch } from './stallWatch';
import { systemTimers, type Timers } from './timers';
import type { WaitState } from './waitState';

/**
 * Without any sign of life for so long a call is given up. The Messages API sends a ping every few seconds while
 * a model thinks; gateways that pass none on are known to be silent for about a minute.
 */
export const STALL_MS = 120_000;

export interface LimiterOptions {
  /** `handshake.maxConcurrentCalls`, read at each use. */
  maxConcurrentCalls(): number;
  timers?: Timers;
  /** Milliseconds; default {@link STALL_MS}. */
  stallMs?: number;
}

/** One call of a member, with all its tries. */
export interface LimitedCall<T> {
  /** Gives the call up, while it waits as well. */
  signal: AbortSignal;
  /** Asked before each try, so that a new key or model counts at once. */
  resolve(): Promise<LanguageModel>;
  /**
   * One try. What it reports after its signal is aborted is void.
   * @param alive to be called at each sign of life
   */
  attempt(model: LanguageModel, signal: AbortSignal, alive: () => void): Promise<T>;
  /** What the call waits for; undefined when it is made. */
  onWait(state: WaitState | undefined): void;
  /** A try failed, and another follows; `tries` is how many there were. */
  onRetry?(error: ModelError, tries: number): void;
}

/**
 * All model calls of a team go through here, whatever their provider: so many at a time, in a fair order. A
 * rate limit or an overload pauses all that call the same endpoint; passing failures are tried again a few
 * times, with growing pauses; a stalled call is cut and tried again. A refused key is not tried again by anybody.
 */
export class CallLimiter {
  readonly #timers: Timers;
  readonly #queue: CallQueue;
  readonly #stallMs: number;
  #tickets = 0;
  /** Models whose key was refused. A new key makes a new model. */
  #refused = new WeakMap<LanguageModel, ModelError>();

  constructor(options: LimiterOptions) {
    this.#timers = options.timers ?? systemTimers;
    this.#stallMs = options.stallMs ?? STALL_MS;
    this.#queue = new CallQueue(this.#timers, () => Math.max(1, options.maxConcurrentCalls()));
  }

  /** The human's word: a key that was refused may be tried once more. */
  forgive(): void {
    this.#refused = new WeakMap();
  }

  /**
   * @throws {ModelError} when the call fails for good
   * @throws the signal's reason when it is aborted
   */
  async run<T>(call: LimitedCall<T>): Promise<T> {
    const ticket = this.#tickets++;
    let own: { until: number; why: ModelError['kind'] } | undefined;
    for (let tries = 1; ; tries++) {
      call.signal.throwIfAborted();
      const { endpoint = '' } = await this.#resolve(call);
      const waiting = { ticket, endpoint, onWait: call.onWait, ...(own && { own }) };
      await this.#queue.enter(waiting, call.signal);
      try {
        return await this.#try(call);
      } catch (error) {
        call.signal.throwIfAborted();
        if (!(error instanceof ModelError)) throw error;
        const pause = pauseAfter(error, tries);
        if (pause === undefined) throw afterTries(error, tries);
        call.onRetry?.(error, tries);
        if (concernsAll(error.kind)) this.#queue.pause(endpoint, pause, error.kind);
        else own = { until: this.#timers.now() + pause, why: error.kind };
      } finally {
        this.#queue.leave();
      }
    }
  }

  async #resolve(call: Pick<LimitedCall<unknown>, 'resolve'>): Promise<LanguageModel> {
    const model = await call.resolve();
    const refused = this.#refused.get(model);
    if (refused) throw refused;
    return model;
  }

  async #try<T>(call: LimitedCall<T>): Promise<T> {
    // Again: while it waited there may have come a new key, or the end of the old one.
    const model = await this.#resolve(call);
    call.signal.throwIfAborted();
    const end = new AbortController();
    const onAbort = (): void => end.abort(call.signal.reason);
    call.signal.addEventListener('abort', onAbort);
    const watch = new StallWatch(this.#timers, this.#stallMs, () => end.abort(this.#stalled(model)));
    try {
      // Whatever the adapter does, an aborted call ends.
      return await Promise.race([call.attempt(model, end.signal, watch.alive), whenAborted(end.signal)]);
    } catch (error) {
      // What still runs of it is void.
      end.abort(error);
      if (error instanceof ModelError && needsKey(error.kind)) this.#refused.set(model, error);
      throw error;
    } finally {
      watch.end();
      call.signal.removeEventListener('abort', onAbort);
    }
  }

  #stalled(model: LanguageModel): ModelError {
    const seconds = Math.round(this.#stallMs / 1000);
    const where = model.endpoint ?? model.label;
    return new ModelError(
      'timeout',
      `${where} sent nothing for ${seconds} s in the middle of a call, so it was given up. Check the network, and whether the endpoint works.`,
    );
  }
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
