/**
 * The yardstick: the same calls with nothing but the SDK. Arguments: URL, workspace, `helper` or `iterator`.
 * `helper` is what most programs call (`messages.stream(…).finalMessage()`); `iterator` reads the raw events.
 */
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { teammatePrompt } from '../src/agent/prompts';
import { TOOLS, ToolTable } from '../src/tools';
import { argument, report } from './support/child';
import { API_KEY, MEMBERS, MODEL, memberName, promptOf } from './support/load';
import { metered } from './support/meter';
import type { LoadReport } from './support/reports';

const [url, workspace, variant] = [argument(0, 'URL'), argument(1, 'workspace'), argument(2, 'variant')];
const client = new Anthropic({ apiKey: API_KEY, baseURL: url });
const policy = { plan: 'either', permission: 'human' } as const;
const tools = new ToolTable(TOOLS).offeredTo(memberName(0), policy).specs.map(
  ({ name, description, inputSchema }): Anthropic.Tool => ({
    name,
    description,
    input_schema: { ...inputSchema, type: 'object' },
  }),
);

function systemOf(name: string): string {
  return teammatePrompt(
    {
      name,
      role: 'reader',
      incarnation: 1,
      prompt: promptOf(name),
      spawnedBy: 'human',
      spawnedAt: 0,
      requirePlan: false,
      status: 'working',
      taskId: `${name}-1.1`,
      workVersion: 1,
      planRequired: false,
    },
    workspace,
  );
}

/** The blocks of one streamed answer, read from its raw events. */
async function readEvents(
  body: Anthropic.MessageCreateParamsNonStreaming,
): Promise<Anthropic.ContentBlockParam[]> {
  const blocks: Anthropic.ContentBlockParam[] = [];
  const json: string[] = [];
  for await (const event of await client.messages.create({ ...body, stream: true })) {
    if (event.type === 'content_block_start') {
      const { content_block: begun } = event;
      if (begun.type === 'text') blocks[event.index] = { type: 'text', text: begun.text };
      else if (begun.type === 'tool_use')
        blocks[event.index] = { type: 'tool_use', id: begun.id, name: begun.name, input: {} };
    } else if (event.type === 'content_block_delta') {
      const block = blocks[event.index];
      if (event.delta.type === 'text_delta' && block?.type === 'text') block.text += event.delta.text;
      else if (event.delta.type === 'input_json_delta')
        json[event.index] = (json[event.index] ?? '') + event.delta.partial_json;
    } else if (event.type === 'content_block_stop') {
      const block = blocks[event.index];
      const input = json[event.index];
      if (block?.type === 'tool_use' && input) block.input = JSON.parse(input);
    }
  }
  return blocks;
}

async function readWhole(
  body: Anthropic.MessageCreateParamsNonStreaming,
): Promise<Anthropic.ContentBlockParam[]> {
  const { content } = await client.messages.stream(body).finalMessage();
  return content.map((block): Anthropic.ContentBlockParam => {
    if (block.type === 'text') return { type: 'text', text: block.text };
    if (block.type === 'tool_use')
      return { type: 'tool_use', id: block.id, name: block.name, input: block.input };
    throw new Error(`The server sent a block of type ${block.type}.`);
  });
}

/** @returns how many calls were answered */
async function runLoop(name: string): Promise<number> {
  const system = systemOf(name);
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: promptOf(name) }];
  for (let calls = 1; ; calls++) {
    const body = { model: MODEL, max_tokens: 8192, system, tools, messages };
    const content = await (variant === 'helper' ? readWhole(body) : readEvents(body));
    messages.push({ role: 'assistant', content });
    const results: Anthropic.ToolResultBlockParam[] = [];
    for (const block of content) {
      if (block.type !== 'tool_use') continue;
      results.push({ type: 'tool_result', tool_use_id: block.id, content: await runTool(block.input) });
    }
    if (results.length === 0) return calls;
    messages.push({ role: 'user', content: results });
  }
}

function runTool(input: unknown): Promise<string> {
  if (typeof input !== 'object' || input === null || !('path' in input) || typeof input.path !== 'string')
    throw new Error('The call has no path.');
  return fs.readFile(path.join(workspace, input.path), 'utf8');
}

report(async (): Promise<LoadReport> => {
  let calls = 0;
  const usage = await metered(async () => {
    const names = Array.from({ length: MEMBERS }, (_, index) => memberName(index));
    for (const made of await Promise.all(names.map(runLoop))) calls += made;
  });
  return { ...usage, calls };
});
