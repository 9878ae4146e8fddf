/**
 * The `fetch` that the SDK is given: Node's own HTTP client in place of the built-in `fetch`, whose web
 * streams cost more than everything else in a call. The editor patches `http` and `https` for its proxy
 * settings and certificates just as it does `fetch`.
 */

import * as http from 'node:http';
import * as https from 'node:https';
import { text } from 'node:stream/consumers';

/** With what it takes to notice a stall. */
export interface NodeRequestInit extends RequestInit {
  /** Called with each piece of the answer's body, and with an empty one when its headers are there. */
  onBytes?: (piece: Uint8Array) => void;
}

/**
 * Sends a request and gives its answer as soon as the headers are there. Redirects are not followed. The body
 * can be iterated or read with `text()` and `json()`, once.
 * @throws Node's error with its `code` when the connection fails, an `AbortError` when the signal ends it
 * @throws {TypeError} for a body other than text or bytes
 */
export async function nodeFetch(
  input: string | URL | Request,
  init: NodeRequestInit = {},
): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : input);
  const body = bodyOf(init.body);
  const headers: http.OutgoingHttpHeaders = Object.fromEntries(new Headers(init.headers));
  if (body !== undefined) headers['content-length'] = Buffer.byteLength(body);
  // The answers are small pieces that have to come through at once.
  headers['accept-encoding'] ??= 'identity';
  const { request } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const options: http.RequestOptions = { method: init.method ?? 'GET', headers };
    if (init.signal) options.signal = init.signal;
    const sent = request(url, options, (message) => {
      try {
        init.onBytes?.(new Uint8Array());
        resolve(toResponse(message, url.href, init.onBytes));
      } catch (error) {
        message.destroy();
        reject(error);
      }
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** A body that tells of each piece before its reader gets it. */
function observed(message: http.IncomingMessage, onBytes: (piece: Uint8Array) => void) {
  return {
    [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
      const pieces: AsyncIterator<Uint8Array> = message[Symbol.asyncIterator]();
      return {
        next: async () => {
          const result = await pieces.next();
          if (!result.done) onBytes(result.value);
          return result;
        },
        return: async () => (await pieces.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}

function bodyOf(body: RequestInit['body']): string | Uint8Array | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  throw new TypeError('The body of a request must be text or bytes.');
}

function toResponse(
  message: http.IncomingMessage,
  url: string,
  onBytes: NodeRequestInit['onBytes'],
): Response {
  // A connection that fails later fails whoever reads the body; without a reader it is of no interest.
  message.on('error', () => undefined);
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headers)) {
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined) headers.append(name, one);
  }
  const response = new Response(null, {
    status: message.statusCode ?? 0,
    statusText: message.statusMessage ?? '',
    headers,
  });
  return Object.defineProperties(response, {
    url: { value: url },
    body: { value: onBytes ? observed(message, onBytes) : message },
    text: { value: () => text(message) },
    json: { value: async (): Promise<unknown> => JSON.parse(await text(message)) },
  });
}
