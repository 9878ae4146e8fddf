/** Sends one answer over HTTP, with the faults that it asks for. */

import type { ServerResponse } from 'node:http';
import type { Answer, HttpAnswer, Point } from './reply';
import { errorEventText, events, locate, type MessageHead, stopReasonOf, usageOf } from './sse';

export function sendHttp(res: ServerResponse, answer: HttpAnswer, requestId: string): void {
  res.writeHead(answer.status, {
    'content-type': answer.contentType ?? 'application/json',
    'request-id': requestId,
    ...answer.headers,
  });
  res.end(answer.body);
}

/** Resolves when the answer is written, or the connection is gone. */
export async function sendAnswer(
  res: ServerResponse,
  answer: Answer,
  head: MessageHead,
  stream: boolean,
  requestId: string,
): Promise<void> {
  if (answer.stall?.at === 'before_headers') await answer.stall.until;
  if (answer.cutAt === 'before_headers') {
    res.destroy();
    return;
  }
  if (!stream) {
    sendHttp(res, { status: 200, body: JSON.stringify(asMessage(answer, head)) }, requestId);
    return;
  }
  res.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'request-id': requestId,
  });
  const list = events(answer, head);
  const { stall, cutAt, errorAt, chunkBytes, delayMs } = answer;
  if (stall || cutAt || errorAt || chunkBytes || delayMs) await writeEvents(res, answer, list);
  else res.end(list.join(''));
}

async function writeEvents(res: ServerResponse, answer: Answer, list: string[]): Promise<void> {
  const upTo = (point: Point): string[] => {
    const { events: count, chars } = locate(list, point);
    const part = list.slice(0, count);
    if (chars > 0) part.push((list[count] ?? '').slice(0, chars));
    return part;
  };
  let written = 0;
  if (answer.stall && answer.stall.at !== 'before_headers') {
    const before = upTo(answer.stall.at);
    res.flushHeaders();
    await write(res, answer, before);
    written = before.join('').length;
    await answer.stall.until;
  }
  let rest = list;
  if (answer.cutAt) rest = upTo(answer.cutAt);
  if (answer.errorAt) {
    const { at, type, message } = answer.errorAt;
    rest = [...list.slice(0, locate(list, at).events), errorEventText(type, message)];
  }
  await write(res, answer, written > 0 ? [rest.join('').slice(written)] : rest);
  if (res.destroyed) return;
  if (answer.cutAt && !answer.cutCleanly) {
    res.destroy();
    return;
  }
  res.end();
}

async function write(res: ServerResponse, answer: Answer, parts: string[]): Promise<void> {
  if (answer.delayMs) {
    for (const part of parts) {
      if (res.destroyed) return;
      res.write(part);
      await new Promise((resolve) => setTimeout(resolve, answer.delayMs));
    }
    return;
  }
  const whole = parts.join('');
  const sizes = answer.chunkBytes;
  if (!sizes || sizes.length === 0) {
    if (whole === '') return;
    // What comes before a cut must be on its way before the socket goes, or the client sees nothing of it.
    if (answer.cutAt) await flushed(res, whole);
    else res.write(whole);
    return;
  }
  // Node joins the writes of one tick, so each waits for the next to stay a chunk of its own.
  const bytes = Buffer.from(whole, 'utf8');
  for (let at = 0, turn = 0; at < bytes.length && !res.destroyed; turn++) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? 1);
    const chunk = bytes.subarray(at, at + size);
    at += size;
    await flushed(res, chunk);
  }
}

function flushed(res: ServerResponse, chunk: string | Buffer): Promise<void> {
  // A connection that the client has closed ends the answer; that is no error of the server.
  return new Promise((resolve) => res.write(chunk, () => setImmediate(resolve)));
}

function asMessage(answer: Answer, head: MessageHead): object {
  return {
    id: head.id,
    type: 'message',
    role: 'assistant',
    model: head.model,
    content: answer.content.map((block) =>
      block.type === 'tool_use'
        ? { type: block.type, id: block.id, name: block.name, input: block.input }
        : block,
    ),
    stop_reason: stopReasonOf(answer),
    stop_sequence: null,
    usage: usageOf(answer, head),
  };
}
