/**
 * Collects the events of one streamed answer into a whole turn. Events are untrusted JSON and read as such;
 * what is not known is skipped. Parts of a tool's input are joined once, at the end of their block.
 */

import { isObject } from '../endpoint';
import type {
  AssistantBlock,
  CallCounts,
  JsonObject,
  ModelReply,
  ModelStreamEvent,
  StopReason,
  TokenUsage,
} from '../port';

interface OpenBlock {
  raw: JsonObject;
  parts: string[];
  signature: string[];
  /** True once a piece of a kind came that is not known: the block cannot be put together. */
  isUnknown: boolean;
}

export class Collector {
  private readonly blocks: (AssistantBlock | undefined)[] = [];
  private readonly open = new Map<number, OpenBlock>();
  /** The tool call that may have been cut: the last one, when its input was empty or not JSON. */
  private readonly unfinished = new Map<AssistantBlock, string>();
  private readonly usage: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  /** Letters that came since the endpoint last said how many tokens it had written. */
  private uncounted = 0;
  private stopReason: unknown;
  private stopDetails = '';
  private model = '';
  private complete = false;
  /** What is wrong with the events so far; what was said to be a call may then be none. */
  private damage: string | undefined;
  /** True once one of the Messages API's events was there. */
  begun = false;

  /** @param fallbackModel is named where the endpoint names none */
  constructor(
    private readonly onEvent: (event: ModelStreamEvent) => void,
    private readonly fallbackModel: string,
  ) {}

  /** Why the answer cannot be used, when its stream has ended; undefined when it is whole. */
  get fault(): string | undefined {
    if (!this.complete) return 'the stream ended before the message did';
    if (this.damage !== undefined) return this.damage;
    const calls = [...this.blocks, ...[...this.open.values()].map(({ raw }) => raw)].some(
      (block) => block?.type === 'tool_use',
    );
    if ([...this.open.values()].some(({ raw }) => raw.type === 'tool_use'))
      return 'a tool call did not come to its end';
    if (calls && this.stopReason === undefined) return 'it did not say why it ended';
    if (!calls && this.stopReason === 'tool_use') return 'it announced a tool call that did not come';
    return undefined;
  }

  take(event: unknown): void {
    if (!isObject(event) || this.complete) return;
    if (typeof event.type === 'string' && KNOWN.has(event.type)) this.begun = true;
    switch (event.type) {
      case 'content_block_delta':
        this.delta(event);
        break;
      case 'content_block_start':
        this.start(event);
        break;
      case 'content_block_stop':
        if (typeof event.index === 'number') this.stop(event.index);
        break;
      case 'message_start':
        if (isObject(event.message)) {
          if (typeof event.message.model === 'string') this.model = event.message.model;
          this.count(event.message.usage);
          if (isObject(event.message.usage)) this.onEvent({ type: 'counting', soFar: () => this.counts() });
        }
        break;
      case 'message_delta':
        if (isObject(event.delta)) {
          this.stopReason = event.delta.stop_reason ?? this.stopReason;
          this.stopDetails = detailsOf(event.delta.stop_details);
        }
        this.count(event.usage);
        break;
      case 'message_stop':
        this.complete = true;
        break;
    }
  }

  /** What the endpoint has counted; what it has written since then is estimated. */
  private counts(): CallCounts {
    const { uncounted, usage, model, fallbackModel } = this;
    const counts = { usage: { ...usage }, model: model || fallbackModel };
    // Some gateways tell what was read only at the end, and zeros before.
    const knowsInput = usage.input + usage.cacheRead + usage.cacheWrite > 0;
    if (uncounted === 0 && knowsInput) return counts;
    counts.usage.output += Math.ceil(uncounted / LETTERS_PER_TOKEN);
    return { ...counts, estimated: true };
  }

  /** The whole turn; call it only when there is no {@link fault}. */
  reply(): ModelReply {
    for (const index of [...this.open.keys()]) this.stop(index);
    const content = withOwnIds(this.blocks.filter(isSaid));
    const stopReason = this.stopReasonOf(content);
    if (stopReason === 'max_tokens') {
      const last = content.at(-1);
      const why = last && this.unfinished.get(last);
      if (last?.type === 'tool_use' && why !== undefined) {
        last.input = {};
        last.inputError = `The input of this call was cut off because the answer reached its token limit${why}. It was not run. Make the call again with a shorter input, or in several steps.`;
      }
    }
    return {
      content,
      stopReason,
      ...(this.stopDetails === '' ? {} : { stopDetails: this.stopDetails }),
      usage: this.usage,
      model: this.model || this.fallbackModel,
    };
  }

  private start(event: JsonObject): void {
    const { index, content_block: block } = event;
    if (typeof index !== 'number' || !isObject(block)) return;
    // A second beginning of a block, or one in the place of another, means that events were lost or came twice.
    const isAgain = this.open.has(index) || this.blocks[index] !== undefined;
    if (isAgain) this.damage ??= 'one of its parts began twice';
    this.open.set(index, { raw: block, parts: [], signature: [], isUnknown: false });
    if (block.type === 'tool_use' && typeof block.id === 'string' && typeof block.name === 'string')
      this.onEvent({ type: 'tool_start', id: block.id, name: block.name });
    else if (block.type === 'text' && typeof block.text === 'string' && block.text !== '')
      this.onEvent({ type: 'text', text: block.text });
  }

  private delta(event: JsonObject): void {
    const { index, delta } = event;
    if (typeof index !== 'number' || !isObject(delta)) return;
    const block = this.open.get(index);
    if (!block) {
      this.damage ??= 'a piece of it came without its beginning';
      return;
    }
    if (typeof delta.text === 'string') {
      this.add(block.parts, delta.text);
      if (delta.text !== '') this.onEvent({ type: 'text', text: delta.text });
    } else if (typeof delta.partial_json === 'string') {
      this.add(block.parts, delta.partial_json);
      if (block.raw.type === 'tool_use' && typeof block.raw.id === 'string' && delta.partial_json !== '')
        this.onEvent({ type: 'tool_input', id: block.raw.id, json: delta.partial_json });
    } else if (typeof delta.thinking === 'string') {
      this.add(block.parts, delta.thinking);
    } else if (typeof delta.signature === 'string') {
      block.signature.push(delta.signature);
    } else if (delta.type !== 'citations_delta') {
      block.isUnknown = true;
    }
  }

  private add(parts: string[], piece: string): void {
    parts.push(piece);
    this.uncounted += piece.length;
  }

  private stop(index: number): void {
    const block = this.open.get(index);
    if (!block) return;
    this.open.delete(index);
    this.blocks[index] = this.close(block);
  }

  /** @returns undefined for a block that could not be given back as it was */
  private close({ raw, parts, signature, isUnknown }: OpenBlock): AssistantBlock | undefined {
    const joined = parts.join('');
    if (isUnknown && raw.type !== 'text' && raw.type !== 'tool_use') return undefined;
    switch (raw.type) {
      case 'text':
        return { type: 'text', text: (typeof raw.text === 'string' ? raw.text : '') + joined };
      case 'tool_use':
        return this.toolUse(raw, joined);
      case 'thinking':
        return {
          type: 'opaque',
          raw: {
            ...raw,
            thinking: (typeof raw.thinking === 'string' ? raw.thinking : '') + joined,
            signature: (typeof raw.signature === 'string' ? raw.signature : '') + signature.join(''),
          },
        };
      default: {
        const input = joined === '' ? undefined : parseInput(joined);
        return { type: 'opaque', raw: input && 'value' in input ? { ...raw, input: input.value } : raw };
      }
    }
  }

  private toolUse(raw: JsonObject, json: string): AssistantBlock {
    const id = typeof raw.id === 'string' ? raw.id : '';
    const name = typeof raw.name === 'string' ? raw.name : '';
    if (json.trim() === '') {
      const block: AssistantBlock = {
        type: 'tool_use',
        id,
        name,
        input: isObject(raw.input) ? raw.input : {},
      };
      // Truly empty input is valid; whether this one was cut shows only in the stop reason.
      this.unfinished.set(block, ' before it began');
      return block;
    }
    const parsed = parseInput(json);
    if ('value' in parsed) return { type: 'tool_use', id, name, input: parsed.value };
    const inputError = `The input of this call is not a JSON object (${parsed.problem}), so it was not run. Make the call again.`;
    const block: AssistantBlock = { type: 'tool_use', id, name, input: {}, inputError };
    this.unfinished.set(block, `, at: …${json.slice(-40)}`);
    return block;
  }

  private count(usage: unknown): void {
    if (!isObject(usage)) return;
    const set = (to: keyof TokenUsage, value: unknown): void => {
      if (typeof value === 'number') this.usage[to] = value;
    };
    set('input', usage.input_tokens);
    set('output', usage.output_tokens);
    if (typeof usage.output_tokens === 'number') this.uncounted = 0;
    set('cacheRead', usage.cache_read_input_tokens);
    set('cacheWrite', usage.cache_creation_input_tokens);
  }

  private stopReasonOf(content: AssistantBlock[]): StopReason {
    switch (this.stopReason) {
      case 'end_turn':
      case 'tool_use':
      case 'max_tokens':
      case 'stop_sequence':
      case 'refusal':
      case 'pause_turn':
        return this.stopReason;
      // The answer ends where the model's context does: cut off, like at its token limit.
      case 'model_context_window_exceeded':
        return 'max_tokens';
      default:
        return content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn';
    }
  }
}

/** Of common text; where the endpoint has counted, that counts. */
const LETTERS_PER_TOKEN = 4;

/** The events of the Messages API that belong to an answer. */
const KNOWN = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
]);

/** What is said of a refusal, in one line. */
function detailsOf(details: unknown): string {
  if (!isObject(details)) return '';
  const parts = [details.category, details.explanation].filter((part) => typeof part === 'string');
  return parts.join(': ').replace(/\s+/g, ' ').slice(0, 200);
}

/** Calls are answered by their id, so each has to have one of its own, and of a form that the API takes back. */
function withOwnIds(content: AssistantBlock[]): AssistantBlock[] {
  const used = new Set<string>();
  return content.map((block) => {
    if (block.type !== 'tool_use') return block;
    const name = /^[\w-]{1,128}$/.test(block.name) ? block.name : 'unnamed';
    const clean = block.id.replace(/[^\w-]/g, '_') || 'call';
    let id = clean;
    for (let n = 2; used.has(id); n++) id = `${clean}_${n}`;
    used.add(id);
    if (id === block.id && name === block.name) return block;
    return Object.assign(block, { id, name });
  });
}

/** Empty text cannot be replayed (the API refuses it) and says nothing. */
function isSaid(block: AssistantBlock | undefined): block is AssistantBlock {
  return block !== undefined && (block.type !== 'text' || block.text.trim() !== '');
}

function parseInput(json: string): { value: JsonObject } | { problem: string } {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value)
      ? { value }
      : { problem: `it is ${Array.isArray(value) ? 'a list' : typeof value}` };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
