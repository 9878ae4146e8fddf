import type {
  AssistantBlock,
  LanguageModel,
  ModelReply,
  ModelRequest,
  ToolUseBlock,
} from '../../../src/model/port';

/** One scripted reply: blocks, or a function of the request that gives them (it may wait or throw). */
export type Step =
  | readonly AssistantBlock[]
  | ((
      request: ModelRequest,
      signal: AbortSignal,
    ) => readonly AssistantBlock[] | Promise<readonly AssistantBlock[]>);

let counter = 0;

export function text(value: string): AssistantBlock {
  return { type: 'text', text: value };
}

export function call(name: string, input: unknown = {}): ToolUseBlock {
  counter++;
  return { type: 'tool_use', id: `call_${counter}`, name, input };
}

/**
 * A model that plays a list of replies for each member, in order. A call without a reply left fails loudly:
 * a test has to say all that it expects.
 */
export class ScriptedModel implements LanguageModel {
  readonly label = 'Script';
  readonly isDemo = false;
  readonly requests: ModelRequest[] = [];
  /** Calls that no script expected, and conversations that the API would refuse. Checked after each test. */
  readonly problems: string[] = [];
  readonly #steps: Record<string, Step[]>;
  readonly #always = new Map<string, Step>();

  constructor(steps: Record<string, readonly Step[]>) {
    this.#steps = Object.fromEntries(Object.entries(steps).map(([name, list]) => [name, [...list]]));
  }

  /** Adds replies while the test goes on. */
  add(member: string, ...steps: Step[]): void {
    const list = this.#steps[member];
    if (list) list.push(...steps);
    else this.#steps[member] = steps;
  }

  /** What the member says when its list is at an end. */
  always(member: string, step: Step): this {
    this.#always.set(member, step);
    return this;
  }

  of(member: string): ModelRequest[] {
    return this.requests.filter((request) => request.member === member);
  }

  async call(
    request: ModelRequest,
    onEvent: Parameters<LanguageModel['call']>[1],
    signal: AbortSignal,
  ): Promise<ModelReply> {
    signal.throwIfAborted();
    this.requests.push(structuredClone(request));
    this.#check(() => checkValid(request));
    const step = this.#steps[request.member]?.shift() ?? this.#always.get(request.member);
    if (step === undefined) return this.#problem(`The script has no reply left for ${request.member}.`);
    const answer = typeof step === 'function' ? step(request, signal) : step;
    const content = [...(await Promise.race([answer, whenAborted(signal)]))];
    signal.throwIfAborted();
    for (const block of content) if (block.type === 'text') onEvent({ type: 'text', text: block.text });
    const usesTools = content.some((block) => block.type === 'tool_use');
    return {
      content,
      stopReason: usesTools ? 'tool_use' : 'end_turn',
      usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 },
      model: 'script',
    };
  }

  #check(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#problem(error instanceof Error ? error.message : String(error));
    }
  }

  #problem(text: string): never {
    this.problems.push(text);
    throw new Error(text);
  }
}

/** As over HTTP, an aborted call ends whatever the endpoint does. */
function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
}

/** What the Messages API asks of a conversation: roles alternate, and every call is answered at once. */
function checkValid({ messages }: ModelRequest): void {
  if (messages[0]?.role !== 'user') throw new Error('The first turn is not a user turn.');
  messages.forEach((turn, index) => {
    if (turn.content.length === 0) throw new Error(`Turn ${index} is empty.`);
    const next = messages[index + 1];
    if (next?.role === turn.role) throw new Error(`Turns ${index} and ${index + 1} have the same role.`);
    if (turn.role !== 'assistant') return;
    const asked = turn.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    const answered = (next?.role === 'user' ? next.content : []).flatMap((block) =>
      block.type === 'tool_result' ? [block.tool_use_id] : [],
    );
    if (JSON.stringify(asked) !== JSON.stringify(answered)) {
      throw new Error(`Turn ${index} calls ${asked.join()} and the next answers ${answered.join()}.`);
    }
  });
  if (messages.at(-1)?.role !== 'user') throw new Error('The last turn is not a user turn.');
}
