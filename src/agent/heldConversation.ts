import type { Conversation } from './conversation';
import type { ProjectInstructions } from './projectInstructions';
import type { RunnerDeps } from './runnerDeps';
import type { WorkPlaces } from './workPlaces';

/**
 * The conversation that a member's loop works with, and what goes with it: what the member has read, and the project's
 * instructions that it knows.
 */
export class HeldConversation {
  #present: Conversation | undefined;
  #number = 0;
  #places: WorkPlaces;
  #instructions: ProjectInstructions;

  constructor(
    private readonly deps: Pick<
      RunnerDeps,
      'openWorkspace' | 'openInstructions' | 'openConversation' | 'conversationNumber'
    >,
  ) {
    this.#places = deps.openWorkspace();
    this.#instructions = deps.openInstructions();
  }

  /** Undefined before the first turn. */
  get present(): Conversation | undefined {
    return this.#present;
  }

  get places(): WorkPlaces {
    return this.#places;
  }

  get instructions(): ProjectInstructions {
    return this.#instructions;
  }

  /** Opened when first needed, and changed over when the number has moved on. */
  async open(): Promise<Conversation> {
    const number = this.deps.conversationNumber();
    if (this.#present && this.#number === number) return this.#present;
    await this.#present?.close();
    this.#present = undefined;
    this.#places = this.deps.openWorkspace();
    this.#instructions = this.deps.openInstructions();
    this.#present = await this.deps.openConversation(number);
    this.#number = number;
    return this.#present;
  }

  async close(): Promise<void> {
    await this.#present?.close();
  }
}
