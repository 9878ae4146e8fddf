import * as assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { nodeFetch } from '../../src/model/anthropic/transport';

describe('model transport', () => {
  let server: Server;

  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  async function serve(listener: RequestListener): Promise<string> {
    server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/`;
  }

  it('sends method, headers and body, and gives status, headers and text', async () => {
    const url = await serve(async (req, res) => {
      const body = [];
      for await (const chunk of req) body.push(chunk);
      res.writeHead(418, { 'x-echo': `${req.method} ${req.headers['x-name']}` });
      res.end(Buffer.concat(body));
    });
    const answer = await nodeFetch(url, { method: 'POST', headers: { 'x-name': 'alice' }, body: 'grüße' });
    assert.equal(answer.status, 418);
    assert.equal(answer.ok, false);
    assert.equal(answer.headers.get('x-echo'), 'POST alice');
    assert.equal(await answer.text(), 'grüße');
  });

  it('gives the answer with its headers, and the pieces of its body as they come', async () => {
    let goOn: () => void = () => undefined;
    const url = await serve((_, res) => {
      res.write('first');
      goOn = () => void res.end('second');
    });
    const { body } = await nodeFetch(url);
    const pieces: string[] = [];
    for await (const piece of body ?? []) {
      pieces.push(Buffer.from(piece).toString());
      goOn();
    }
    assert.deepEqual(pieces, ['first', 'second']);
  });

  it('follows no redirect', async () => {
    const url = await serve((_, res) => res.writeHead(307, { location: 'http://example.invalid/' }).end());
    const answer = await nodeFetch(url, { method: 'POST', headers: { authorization: 'secret' }, body: '{}' });
    assert.equal(answer.status, 307);
  });

  it('uses one connection for calls in a row', async () => {
    const connections = new Set<Socket>();
    const url = await serve((req, res) => {
      connections.add(req.socket);
      res.end('{"ok":true}');
    });
    for (let call = 0; call < 3; call++) assert.deepEqual(await (await nodeFetch(url)).json(), { ok: true });
    assert.equal(connections.size, 1);
  });

  it('closes the connection when the signal ends the call in the middle of its answer', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    const url = await serve((req, res) => {
      closed = once(req.socket, 'close');
      res.write('first');
    });
    const controller = new AbortController();
    const { body } = await nodeFetch(url, { signal: controller.signal });
    await assert.rejects(async () => {
      for await (const _ of body ?? []) controller.abort();
    });
    await closed;
  });

  it('fails the reader, and nothing else, when the connection is cut', async () => {
    const url = await serve((_, res) => {
      res.write('first', () => res.destroy());
    });
    const unread = await nodeFetch(url);
    assert.equal(unread.status, 200);
    const read = await nodeFetch(url);
    await assert.rejects(read.text());
  });

  it('names the code when nothing listens', async () => {
    const url = await serve(() => undefined);
    server.close();
    await once(server, 'close');
    await assert.rejects(nodeFetch(url), { code: 'ECONNREFUSED' });
    server.listen(0);
    await once(server, 'listening');
  });
});
