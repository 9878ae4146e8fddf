/** The demo's next turn, as a pure function of what any model is sent. */

import { isObject } from '../endpoint';
import type { AssistantBlock, ConversationTurn, JsonObject, ToolSpec } from '../port';
import { leadMove } from './lead';
import { act, type Mail, type Move, readStory, type Story } from './story';
import { answerShutdown, teammateMove } from './teammate';

export interface DemoRequest {
  system: string;
  messages: readonly ConversationTurn[];
  tools: readonly ToolSpec[];
  forceTool?: string;
}

/** Deterministic: the same request gives the same turn, with call ids that are new in its conversation. */
export function demoReply({ system, messages, tools, forceTool }: DemoRequest): AssistantBlock[] {
  const story = readStory(messages);
  const offered = new Set(tools.map((tool) => tool.name));
  const move = forceTool
    ? forced(story, forceTool, tools)
    : withOffered(
        offered.has('spawn_teammate') ? leadMove(story, offered) : teammateMove(story, system),
        offered,
      );
  const blocks: AssistantBlock[] = [];
  if (move.say !== '') blocks.push({ type: 'text', text: move.say });
  move.calls.forEach(({ name, input }, i) => {
    blocks.push({ type: 'tool_use', id: `demo_${story.nextCall + i}`, name, input });
  });
  return blocks;
}

/** A tool that is not offered does not exist. */
function withOffered(move: Move, offered: ReadonlySet<string>): Move {
  const lacking = move.calls.find((call) => !offered.has(call.name));
  if (!lacking) return move;
  return { say: `${move.say} But I have no tool ${lacking.name} here.`.trim(), calls: [] };
}

function forced(story: Story, name: string, tools: readonly ToolSpec[]): Move {
  if (name === 'shutdown_response') {
    const mail = story.happenings.findLast(
      (event): event is Mail => event.kind === 'mail' && event.type === 'shutdown_request' && !event.external,
    );
    if (mail) return { ...answerShutdown(story, mail), say: '' };
  }
  const schema = tools.find((tool) => tool.name === name)?.inputSchema ?? {};
  return act('', name, fill(schema));
}

/** The least input that a schema takes. */
function fill(schema: JsonObject): JsonObject {
  const input: JsonObject = {};
  const properties = isObject(schema.properties) ? schema.properties : {};
  for (const key of Array.isArray(schema.required) ? schema.required : []) {
    if (typeof key !== 'string') continue;
    const property = properties[key];
    const type = isObject(property) ? property.type : 'string';
    if (type === 'boolean') input[key] = true;
    else if (type === 'number' || type === 'integer') input[key] = 1;
    else if (type === 'array') input[key] = [];
    else if (type === 'object') input[key] = {};
    else input[key] = 'demo';
  }
  return input;
}
