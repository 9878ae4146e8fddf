import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';
import { route } from './router.js';
import { NoteStore } from './store.js';

const MAX_BODY_BYTES = 64 * 1024;

/** An answer that ends a request early. */
class HttpError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function readJson(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new HttpError(413, 'The body is too large');
    chunks.push(chunk);
  }
  if (size === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new HttpError(400, 'The body is not valid JSON');
  }
}

function send(response, status, body) {
  if (body === undefined) {
    response.writeHead(status).end();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(body));
}

/** Makes the server without starting it. */
export function createApp(store = new NoteStore()) {
  return createServer(async (request, response) => {
    try {
      const url = new URL(request.url, 'http://localhost');
      const body = await readJson(request);
      const answer = route({ method: request.method, path: url.pathname, query: url.searchParams, body, store });
      send(response, answer.status, answer.body);
    } catch (error) {
      const status = error instanceof HttpError ? error.status : 500;
      if (status === 500) console.error(error);
      send(response, status, { error: status === 500 ? 'Internal error' : error.message });
    }
  });
}

const startedDirectly = process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href;
if (startedDirectly) {
  const port = Number(process.env.PORT ?? 3000);
  createApp().listen(port, '127.0.0.1', () => console.log(`Notes API on http://127.0.0.1:${port}`));
}
