import type { Step, Tap } from './tappedFileSystem';

/** How a step fails. `short`: half of a write is done, and the next step on that file fails. */
export const FAULTS = ['ENOSPC', 'EACCES', 'EIO', 'short'] as const;
export type Fault = (typeof FAULTS)[number];

/** Lets one step of a run fail, and only that one. */
export class FaultyStep {
  /** The step that failed; undefined as long as none has. */
  failed: Step | undefined;
  /** How many steps there were. */
  steps = 0;
  #shortened: string | undefined;

  /** @param at the step that is to fail, counted from 0; undefined for none */
  constructor(
    private readonly at: number | undefined,
    private readonly fault: Fault,
  ) {}

  readonly tap: Tap = (step, run) => {
    const index = this.steps;
    this.steps += 1;
    if (this.#shortened === step.path) {
      this.#shortened = undefined;
      return this.#fail(step, 'EIO');
    }
    if (index !== this.at) return run();
    if (this.fault !== 'short') return this.#fail(step, this.fault);
    // Only a write can be cut short; any other step fails as a whole.
    if (step.name !== 'write' || step.bytes < 2) return this.#fail(step, 'EIO');
    this.#shortened = step.path;
    return run(Math.floor(step.bytes / 2));
  };

  #fail(step: Step, code: string): Promise<never> {
    this.failed = step;
    return Promise.reject(Object.assign(new Error(`${code}: ${step.name} '${step.path}'`), { code }));
  }
}
