/**
 * The port through which a member's loop reaches a language model. Adapters (Anthropic over HTTP, the
 * demo, VS Code's own models) implement {@link LanguageModel}; nothing above this file knows which.
 *
 * Content blocks follow the Anthropic Messages API, which is also what transcripts store, so that a turn
 * can be replayed unchanged.
 */

/** A JSON object as it crosses a border; contents are parsed where they are used. */
export type JsonObject = { [key: string]: unknown };

export interface TextBlock {
  type: 'text';
  text: string;
}

/** A tool call of the model. `input` is whatever the model sent; it is parsed at dispatch. */
export interface ToolUseBlock {
  type: 'tool_use';
  id: string;
  name: string;
  input: unknown;
  /**
   * Why this call must not run: its input was cut off or is not a JSON object. The sentence is meant for the
   * model, as the call's error result; `input` is then `{}`, so that the turn can be replayed.
   */
  inputError?: string;
}

/** A picture, for models that can see; others go by the text beside it. */
export interface ImagePart {
  mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  /** Base64. */
  data: string;
}

export interface ToolResultBlock {
  type: 'tool_result';
  tool_use_id: string;
  content: string;
  /** What goes with the text. */
  images?: ImagePart[];
  is_error?: boolean;
}

/** A block this program does not interpret (thinking and its like); it is replayed unchanged. */
export interface OpaqueBlock {
  type: 'opaque';
  raw: JsonObject;
}

export type AssistantBlock = TextBlock | ToolUseBlock | OpaqueBlock;
export type UserBlock = TextBlock | ToolResultBlock;

export interface UserTurn {
  role: 'user';
  content: UserBlock[];
}

export interface AssistantTurn {
  role: 'assistant';
  content: AssistantBlock[];
}

export type ConversationTurn = UserTurn | AssistantTurn;

/** A tool as the model sees it. */
export interface ToolSpec {
  name: string;
  description: string;
  /** JSON Schema of an object. */
  inputSchema: JsonObject;
}

export interface ModelRequest {
  /** Who calls; sent as `x-handshake-member` over HTTP. */
  member: string;
  /** The member's own model, or undefined for the configured one. */
  model?: string;
  system: string;
  messages: readonly ConversationTurn[];
  tools: readonly ToolSpec[];
  /** Forces a call of this one tool; thinking is then off. */
  forceTool?: string;
}

/** What a running call reports. `text` and `tool_input` are increments. */
export type ModelStreamEvent =
  | { type: 'text'; text: string }
  | { type: 'tool_start'; id: string; name: string }
  | { type: 'tool_input'; id: string; json: string }
  /** The endpoint has begun to count the call: what it comes to should the call break off. Once a call. */
  | { type: 'counting'; soFar(): CallCounts }
  /** The endpoint sent something (a ping, a thought): the call has not stalled. */
  | { type: 'alive' };

export interface TokenUsage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/** What a call has used, or has used so far. */
export interface CallCounts {
  usage: TokenUsage;
  /** True where a part of {@link usage} is an estimate. */
  estimated?: boolean;
  /** The model that answers, as the endpoint names it. */
  model: string;
  /** The name under which the call is counted and priced; {@link model} where it is left out. */
  countedAs?: string;
}

export type StopReason = 'end_turn' | 'tool_use' | 'max_tokens' | 'stop_sequence' | 'refusal' | 'pause_turn';

/** A whole assistant turn; a call that ends in any other way throws. */
export interface ModelReply extends CallCounts {
  content: AssistantBlock[];
  stopReason: StopReason;
  /** What the endpoint says of a refusal, in one line. */
  stopDetails?: string;
}

export interface LanguageModel {
  /** How the user knows this source of words, such as `claude-sonnet-4-5` or `Demo`. */
  readonly label: string;
  /** True for the scripted demo, which is labelled wherever it speaks. */
  readonly isDemo: boolean;
  /** Where its calls go; a rate limit there holds for all that go to the same place. */
  readonly endpoint?: string;
  /** How many tokens a conversation with it may take, where that is known. */
  readonly contextWindow?: number;
  /**
   * One model call, streamed.
   * @throws {ModelError} with a sentence for the user when the call fails
   * @throws the signal's reason when it is aborted
   */
  call(
    request: ModelRequest,
    onEvent: (event: ModelStreamEvent) => void,
    signal: AbortSignal,
  ): Promise<ModelReply>;
}

/** What the user can do about a failed call; the UI offers the matching action. */
export type ModelErrorKind =
  | 'no_key'
  /** VS Code's own model, for which the human has to be asked first. */
  | 'no_access'
  | 'bad_key'
  | 'expired_key'
  | 'unreachable'
  | 'timeout'
  | 'unknown_model'
  | 'wrong_protocol'
  | 'no_tools'
  | 'no_images'
  | 'rate_limit'
  | 'overloaded'
  | 'quota'
  | 'too_long'
  | 'refused'
  | 'bad_request'
  | 'interrupted_stream'
  | 'other';

/** Failures that another try, a little later, may well not meet. */
const PASSING: readonly ModelErrorKind[] = [
  'rate_limit',
  'overloaded',
  'unreachable',
  'timeout',
  'interrupted_stream',
];

export interface ModelErrorOptions {
  cause?: unknown;
  /** Whether the same call may be tried again; by default where the kind is one that passes. */
  retry?: boolean;
  /** How long the endpoint asks to wait before the next call; milliseconds. */
  retryAfterMs?: number;
  /** How many tokens the model takes, where the endpoint refused a longer conversation and said so. */
  contextWindow?: number;
}

/** A failed call in plain words: what failed, with which endpoint or model, and what to do. Never holds a key. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly retry: boolean;
  readonly retryAfterMs: number | undefined;
  readonly contextWindow: number | undefined;

  constructor(
    readonly kind: ModelErrorKind,
    message: string,
    { retry = PASSING.includes(kind), retryAfterMs, contextWindow, ...options }: ModelErrorOptions = {},
  ) {
    super(message, options);
    this.retry = retry;
    this.retryAfterMs = retryAfterMs;
    this.contextWindow = contextWindow;
  }
}

/** True where nothing helps but another key: the member waits for it and then goes on. */
export function needsKey(kind: string): boolean {
  return kind === 'no_key' || kind === 'bad_key' || kind === 'expired_key';
}
