import { messageOf } from '../team/ledger';
import type { ReviewCore } from './reviewApi';
import type { TaskReviews } from './taskReviews';

/** The reviews of a team, loaded with all that merges when the first is asked for: most windows never do. */
export class LazyReviews implements ReviewCore {
  #loaded: Promise<TaskReviews> | undefined;
  #isClosed = false;

  /** @param isNeeded whether an earlier window may have left something to be taken up */
  constructor(
    private readonly load: () => Promise<TaskReviews>,
    private readonly isNeeded: () => boolean,
  ) {}

  createWorktree: ReviewCore['createWorktree'] = async (...args) =>
    (await this.#get()).createWorktree(...args);
  inspectWorktree: ReviewCore['inspectWorktree'] = async (...args) =>
    (await this.#get()).inspectWorktree(...args);
  removeWorktree: ReviewCore['removeWorktree'] = async (...args) =>
    (await this.#get()).removeWorktree(...args);
  reviewWork: ReviewCore['reviewWork'] = async (...args) => (await this.#get()).reviewWork(...args);
  reviewContent: ReviewCore['reviewContent'] = async (...args) => (await this.#get()).reviewContent(...args);
  acceptWork: ReviewCore['acceptWork'] = async (...args) => (await this.#get()).acceptWork(...args);
  sendBack: ReviewCore['sendBack'] = async (...args) => (await this.#get()).sendBack(...args);

  /** See {@link TaskReviews.recover}. */
  async recover(): Promise<string[]> {
    if (!this.isNeeded()) return [];
    try {
      return await (await this.#get()).recover();
    } catch (error) {
      // The team opens all the same.
      return [`What an earlier window had begun could not be taken up: ${messageOf(error)}`];
    }
  }

  /** See {@link TaskReviews.close}. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#loaded)?.close();
  }

  async #get(): Promise<TaskReviews> {
    this.#loaded ??= this.load();
    try {
      const reviews = await this.#loaded;
      // Asked for after the end: it refuses, as one that was there would.
      if (this.#isClosed) await reviews.close();
      return reviews;
    } catch (error) {
      // Read again at the next try.
      this.#loaded = undefined;
      throw error;
    }
  }
}
