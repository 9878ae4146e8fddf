import type { ModelErrorKind } from './port';
import type { Timers } from './timers';
import type { WaitState } from './waitState';

/** After a pause the calls come one after the other over this part of it, so that they are no second wave. */
const SPREAD = 0.2;
const LEAST_SPREAD_MS = 250;
const MOST_SPREAD_MS = 5000;
/** How often the time that is left is told. */
const TELL_MS = 1000;

/** A pause of all calls to one endpoint. */
interface Pause {
  until: number;
  spread: number;
  why: ModelErrorKind;
}

/** One who waits to make a call. */
export interface Waiting {
  /** Who came first goes first. */
  ticket: number;
  endpoint: string;
  /** A pause of this call alone. */
  own?: { until: number; why: ModelErrorKind };
  onWait(state: WaitState | undefined): void;
}

interface Entry extends Waiting {
  /** Where in the spread after a pause it stands; 0 to 1. */
  jitter: number;
  told: string;
  enter(): void;
}

/** Lets in as many calls as may be under way, in the order in which they came, and none during a pause. */
export class CallQueue {
  readonly #waiting: Entry[] = [];
  readonly #pauses = new Map<string, Pause>();
  #running = 0;
  #cancelTimer: () => void = () => undefined;

  constructor(
    private readonly timers: Timers,
    private readonly maxRunning: () => number,
  ) {}

  /**
   * Resolves when the call may be made; {@link leave} has to follow.
   * @throws the signal's reason when it is aborted before
   */
  enter(waiting: Waiting, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#remove(entry);
        reject(signal.reason);
        this.#look();
      };
      const entry: Entry = {
        ...waiting,
        jitter: this.timers.random(),
        told: '',
        enter: () => {
          signal.removeEventListener('abort', onAbort);
          if (entry.told !== '') waiting.onWait(undefined);
          resolve();
        },
      };
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      signal.addEventListener('abort', onAbort);
      const at = this.#waiting.findIndex(({ ticket }) => ticket > entry.ticket);
      this.#waiting.splice(at === -1 ? this.#waiting.length : at, 0, entry);
      this.#look();
    });
  }

  leave(): void {
    this.#running--;
    this.#look();
  }

  /** Nobody calls this endpoint for so many milliseconds. */
  pause(endpoint: string, ms: number, why: ModelErrorKind): void {
    const until = this.timers.now() + ms;
    const present = this.#pauses.get(endpoint);
    if (present && present.until >= until) return;
    const spread = Math.min(Math.max(ms * SPREAD, LEAST_SPREAD_MS), MOST_SPREAD_MS);
    this.#pauses.set(endpoint, { until, spread, why });
    this.#look();
  }

  #remove(entry: Entry): void {
    const at = this.#waiting.indexOf(entry);
    if (at !== -1) this.#waiting.splice(at, 1);
  }

  /** Lets in who may go, tells the others what they wait for, and comes again when that changes. */
  #look(): void {
    this.#cancelTimer();
    const now = this.timers.now();
    let next = Number.POSITIVE_INFINITY;
    for (const entry of [...this.#waiting]) {
      const { at, why } = this.#readyAt(entry);
      if (why !== undefined && at > now) {
        next = Math.min(next, at - now, TELL_MS);
        tell(entry, { for: 'pause', why, ms: at - now });
      } else if (this.#running < this.maxRunning()) {
        this.#running++;
        this.#remove(entry);
        entry.enter();
      } else {
        tell(entry, { for: 'slot' });
      }
    }
    this.#cancelTimer = Number.isFinite(next) ? this.timers.after(next, () => this.#look()) : () => undefined;
  }

  #readyAt({ endpoint, own, jitter }: Entry): { at: number; why?: ModelErrorKind } {
    const pause = this.#pauses.get(endpoint);
    const all = pause && { at: pause.until + jitter * pause.spread, why: pause.why };
    const alone = own && { at: own.until, why: own.why };
    if (all && (!alone || all.at >= alone.at)) return all;
    return alone ?? { at: 0 };
  }
}

function tell(entry: Entry, state: WaitState): void {
  const key = state.for === 'slot' ? 'slot' : `${state.why} ${Math.ceil(state.ms / 1000)}`;
  if (key === entry.told) return;
  entry.told = key;
  entry.onWait(state);
}
