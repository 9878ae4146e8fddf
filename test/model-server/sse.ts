/** Serialises an answer as the server-sent events of the Messages API. */

import type { Answer, Point, ReplyBlock, Usage } from './reply';

export interface MessageHead {
  id: string;
  model: string;
  inputTokens: number;
}

const TEXT_PIECE = 24;
const INPUT_PIECE = 20;

export function stopReasonOf(answer: Answer): string {
  return answer.stopReason ?? (answer.content.some((b) => b.type === 'tool_use') ? 'tool_use' : 'end_turn');
}

export function usageOf(answer: Answer, head: MessageHead): Required<Usage> {
  const chars = answer.content.reduce((sum, block) => sum + JSON.stringify(block).length, 0);
  return {
    input_tokens: head.inputTokens,
    output_tokens: Math.max(1, Math.ceil(chars / 4)),
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    ...answer.usage,
  };
}

/** Every event of the answer, one string each, in order. */
export function events(answer: Answer, head: MessageHead): string[] {
  const usage = usageOf(answer, head);
  const startUsage = JSON.stringify({ ...usage, output_tokens: 1 });
  const out = [
    `event: message_start\ndata: {"type":"message_start","message":{"id":"${head.id}","type":"message","role":"assistant","model":${JSON.stringify(head.model)},"content":[],"stop_reason":null,"stop_sequence":null,"usage":${startUsage}}}\n\n`,
  ];
  answer.content.forEach((block, index) => {
    pushBlock(out, block, index);
    if (index === 0) out.splice(2, 0, 'event: ping\ndata: {"type": "ping"}\n\n');
    if (answer.unknownEvents) out.push('event: news_of_later\ndata: {"type":"news_of_later","x":[1]}\n\n');
  });
  out.push(
    `event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":${JSON.stringify(stopReasonOf(answer))},"stop_sequence":null},"usage":${JSON.stringify(usage)}}\n\n`,
    'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  );
  return answer.mutate?.(out) ?? out;
}

function pushBlock(out: string[], block: ReplyBlock, index: number): void {
  switch (block.type) {
    case 'text':
      out.push(start(index, '{"type":"text","text":""}'));
      for (const piece of pieces(block.text, TEXT_PIECE))
        out.push(delta(index, `{"type":"text_delta","text":${JSON.stringify(piece)}}`));
      break;
    case 'tool_use': {
      out.push(
        start(
          index,
          `{"type":"tool_use","id":${JSON.stringify(block.id ?? '')},"name":${JSON.stringify(block.name)},"input":{}}`,
        ),
      );
      const json =
        block.rawInput ?? (Object.keys(block.input).length === 0 ? '' : JSON.stringify(block.input));
      out.push(delta(index, '{"type":"input_json_delta","partial_json":""}'));
      for (const piece of pieces(json, INPUT_PIECE))
        out.push(delta(index, `{"type":"input_json_delta","partial_json":${JSON.stringify(piece)}}`));
      break;
    }
    case 'thinking':
      out.push(start(index, '{"type":"thinking","thinking":"","signature":""}'));
      for (const piece of pieces(block.thinking, TEXT_PIECE))
        out.push(delta(index, `{"type":"thinking_delta","thinking":${JSON.stringify(piece)}}`));
      out.push(delta(index, `{"type":"signature_delta","signature":${JSON.stringify(block.signature)}}`));
      break;
    case 'redacted_thinking':
    case 'server_tool_use':
    case 'block_to_come':
      out.push(start(index, JSON.stringify(block)));
      break;
  }
  out.push(`event: content_block_stop\ndata: {"type":"content_block_stop","index":${index}}\n\n`);
}

const start = (index: number, block: string): string =>
  `event: content_block_start\ndata: {"type":"content_block_start","index":${index},"content_block":${block}}\n\n`;

const delta = (index: number, json: string): string =>
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":${json}}\n\n`;

function pieces(whole: string, size: number): string[] {
  const out: string[] = [];
  for (let i = 0; i < whole.length; i += size) out.push(whole.slice(i, i + size));
  return out;
}

/** How many events, and how many characters of the one after them, come before the point. */
export function locate(list: string[], point: Point): { events: number; chars: number } {
  if (point === 'before_headers' || point === 'before_events') return { events: 0, chars: 0 };
  if (point === 'before_message_stop') return { events: list.length - 1, chars: 0 };
  if (typeof point === 'object') return { events: Math.min(point.afterEvents, list.length), chars: 0 };
  const mark = point === 'mid_tool_input' ? 'input_json_delta' : 'content_block_delta';
  const hits = list.flatMap((event, i) => (event.includes(mark) ? [i] : []));
  const at = hits[Math.floor(hits.length / 2)];
  if (at === undefined) throw new Error(`The answer has no ${mark} to be cut at`);
  return { events: at, chars: Math.floor((list[at] ?? '').length / 2) };
}

export function errorEventText(type: string, message: string): string {
  return `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type, message } })}\n\n`;
}
