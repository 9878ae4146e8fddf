import type { AssistantBlock, LanguageModel, ModelReply, ModelRequest } from '../../src/model/port';
import { type Call, type Heard, hear, invalid, isCutOff } from './heard';
import { WAITS_FOR_EVER } from './minds';

/** A call that a model still has to make. */
export interface Wish {
  name: string;
  input: Record<string, unknown>;
  /** Whether a call is an attempt at this; by default one of the same tool with the same input. */
  matches?: (call: Call) => boolean;
  /** Failures that mean that it is done already. */
  doneBy?: RegExp;
  /** What to do when it was cut off: try again, or leave it at that, since twice would be worse. Default `again`. */
  cutOff?: 'again' | 'leave';
}

/** A member decides by what it has been told and has done, so that it can go on from any state. */
export type Mind = (heard: Heard, forced: string | undefined) => Wish[];

/** More than any number of crashes explains. */
export const MAX_ATTEMPTS = 12;

/** Whether there is nothing left to do about a wish. */
export function isDone(wish: Wish, heard: Heard): boolean {
  const matches =
    wish.matches ??
    ((call) => call.name === wish.name && JSON.stringify(call.input) === JSON.stringify(wish.input));
  const attempts = heard.calls.filter(matches);
  if (attempts.length > MAX_ATTEMPTS) {
    throw new Error(`${wish.name} does not succeed: ${attempts.at(-1)?.result ?? ''}`);
  }
  return attempts.some((call) => {
    if (!call.failed) return call.result !== undefined;
    if (isCutOff(call)) return wish.cutOff === 'leave';
    return wish.doneBy?.test(call.result ?? '') ?? false;
  });
}

/** A model without chance: the same conversation always gets the same answer, but for the ids of its calls. */
export class Brain implements LanguageModel {
  readonly label = 'Script';
  readonly isDemo = false;
  /** Conversations that the API would refuse, and wishes that do not come true. */
  readonly problems: string[] = [];
  /** Whether calls that never end do end, so that a team can come to rest before the human plays. */
  isCalm = true;
  #calls = 0;

  /** @param life makes the ids of this process its own, as an API's are */
  constructor(
    private readonly life: string,
    private readonly minds: Readonly<Record<string, Mind>>,
  ) {}

  async call(
    request: ModelRequest,
    onEvent: Parameters<LanguageModel['call']>[1],
    signal: AbortSignal,
  ): Promise<ModelReply> {
    signal.throwIfAborted();
    for (const wrong of invalid(request.messages, { mayEndInCalls: false })) {
      this.#problem(`${request.member}'s conversation: ${wrong}`);
    }
    const content = this.#answer(request);
    if (content === undefined) await whenAborted(signal);
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    const blocks = content ?? [];
    for (const block of blocks) if (block.type === 'text') onEvent({ type: 'text', text: block.text });
    const usesTools = blocks.some((block) => block.type === 'tool_use');
    return {
      content: blocks,
      stopReason: usesTools ? 'tool_use' : 'end_turn',
      usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 },
      model: 'script',
    };
  }

  /** @returns undefined for a call that never ends */
  #answer(request: ModelRequest): AssistantBlock[] | undefined {
    const heard = hear(request.messages);
    const mind = this.minds[request.member];
    if (!mind) return this.#problem(`Nobody knows how ${request.member} thinks.`);
    try {
      const wishes = mind(heard, request.forceTool);
      if (wishes.includes(WAITS_FOR_EVER) && !this.isCalm) return undefined;
      if (wishes.length === 0 || wishes.includes(WAITS_FOR_EVER))
        return [{ type: 'text', text: `${request.member} has no more to do.` }];
      return wishes.slice(0, 2).map((wish) => this.#toolUse(request.member, wish));
    } catch (error) {
      return this.#problem(error instanceof Error ? error.message : String(error));
    }
  }

  #toolUse(member: string, { name, input }: Wish): AssistantBlock {
    this.#calls += 1;
    const id = `${member}-${this.life}-${this.#calls}`;
    // What is written names its call, so that a file tells by which one it came to be.
    const content = typeof input.content === 'string' ? input.content.replaceAll('<id>', id) : undefined;
    return { type: 'tool_use', id, name, input: content === undefined ? input : { ...input, content } };
  }

  #problem(text: string): never {
    this.problems.push(text);
    throw new Error(text);
  }
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
}
