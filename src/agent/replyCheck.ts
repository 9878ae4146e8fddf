import type { ModelReply } from '../model/port';
import type { TeamEvent } from '../team/events';
import { rawTextOf, textOf } from './modelCall';

/** How often in a row an answer that reached its token limit is gone on with. */
const MAX_CONTINUED = 3;

/** What an answer without a tool call may lack, found once in a turn and told to the model. */
export class ReplyCheck {
  #continued = 0;
  #saidNothing = false;
  #wroteCall = false;
  /** What was said before an answer was cut off. */
  #before = '';

  constructor(
    private readonly member: string,
    private readonly emit: (event: TeamEvent) => void,
  ) {}

  /** The last word of the turn, with what came before where it was cut off. */
  wholeText(reply: ModelReply): string {
    return this.#before + textOf(reply);
  }

  /** @returns what to tell the model before it is called again, or undefined when the answer is whole */
  ask(reply: ModelReply, toolNames: readonly string[]): string | undefined {
    const text = textOf(reply);
    if (reply.stopReason === 'max_tokens') return this.#goOn(rawTextOf(reply), reply.model);
    this.#continued = 0;
    if (text === '') return this.#askForWord(reply.model);
    if (writesCall(text, toolNames)) return this.#askForCall(reply.model);
    return undefined;
  }

  #goOn(text: string, model: string): string | undefined {
    if (this.#continued++ >= MAX_CONTINUED) {
      this.#warn(
        `${this.member} reached the token limit of an answer (${model}) ${this.#continued} times in a row; its last answer is not whole.`,
      );
      return undefined;
    }
    if (text.trim() === '')
      return 'Your answer reached its token limit before you said anything. Answer more briefly, or take a smaller step.';
    this.#before += text;
    return 'Your answer was cut off at its token limit. Go on exactly where it stopped, without repeating anything.';
  }

  #askForWord(model: string): string | undefined {
    if (this.#saidNothing) {
      this.#warn(
        `The model ${model} of ${this.member} ended its turn with an empty answer, although asked again.`,
      );
      return undefined;
    }
    this.#saidNothing = true;
    return 'Your answer was empty. Go on with the work, or say in a sentence what you did.';
  }

  #askForCall(model: string): string | undefined {
    if (this.#wroteCall) {
      this.#warn(
        `The model ${model} of ${this.member} writes tool calls as text, so none of them runs. It seems to be unable to use tools: choose another with "Handshake: Select Model".`,
      );
      return undefined;
    }
    this.#wroteCall = true;
    return 'You wrote a tool call as text; nothing was run. Call the tool itself, or, if that was an example, say so.';
  }

  #warn(text: string): void {
    this.emit({ type: 'notice', level: 'warning', text, member: this.member });
  }
}

/** The marks in which models without tool use write calls, around or before the name of a tool they were offered. */
const CALL_MARK = /<(?:tool_call|function_calls?|invoke|tool_use)\b|<function=|\[TOOL_CALLS\]/i;
const NAMED = /"(?:name|tool|function|tool_name)"\s*:\s*"([A-Za-z0-9_-]+)"/;
const HAS_ARGUMENTS = /"(?:arguments|parameters|input|args|tool_input)"\s*:\s*[{"]/;

/** Whether a text as a whole is an attempt at a tool call: prose about calls is none. */
function writesCall(text: string, toolNames: readonly string[]): boolean {
  const bare = text.replace(/^```\w*\s*|\s*```$/g, '').trim();
  if (CALL_MARK.test(bare)) return toolNames.some((name) => bare.includes(name));
  if (!bare.startsWith('{') || !bare.endsWith('}')) return false;
  const name = NAMED.exec(bare)?.[1];
  return name !== undefined && toolNames.includes(name) && HAS_ARGUMENTS.test(bare);
}
