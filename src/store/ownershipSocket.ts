import { randomBytes } from 'node:crypto';
import { promises as fs } from 'node:fs';
import * as net from 'node:net';
import * as os from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { errorCode, storageError } from './errors';

/**
 * The local socket by which other windows of the same user know that an owner lives, and ask it to give way.
 * Every owner listens at an address of its own that is never used again, so a refused connection means that
 * this owner is gone for good. One JSON line goes each way; anything else is refused.
 */

const ownerRequest = z.discriminatedUnion('ask', [
  /** Give the team up. Answered when the owner has paused. */
  z.object({ ask: z.literal('take_over'), pid: z.int().positive() }),
  /** Tell me when you are gone: the connection stays open until then. */
  z.object({ ask: z.literal('watch') }),
]);
export type OwnerRequest = z.infer<typeof ownerRequest>;

const ownerAnswer = z.discriminatedUnion('answer', [
  z.object({ answer: z.literal('released') }),
  /** Given up too, but what it had to finish failed. */
  z.object({ answer: z.literal('failed'), reason: z.string() }),
  z.object({ answer: z.literal('watching') }),
  z.object({ answer: z.literal('refused'), reason: z.string() }),
]);
export type OwnerAnswer = z.infer<typeof ownerAnswer>;

const MAX_LINE_BYTES = 4096;
/** Milliseconds that a caller has to say what it wants. */
const REQUEST_PATIENCE = 10_000;
/** Bytes that fit into the address of a Unix socket on every system. */
const MAX_ADDRESS_BYTES = 100;
/** How the system says that nobody listens. */
const GONE = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTSOCK']);
const SOCKET_NAME = /^handshake-[0-9]+\/[0-9a-f]{16}\.sock$/;

export interface OwnerSocket {
  readonly address: string;
  /** Stops listening; those that watch see it at once, an answer under way still goes out. */
  close(): void;
}

/**
 * Listens at a new address that only the same user reaches.
 * @param takeOver what to answer, once the team is given up; `gone` resolves when the one that asked has
 * what it wanted, or is gone itself
 * @throws {StorageError} when no socket can be had
 */
export async function listenAsOwner(
  takeOver: (pid: number, gone: Promise<void>) => Promise<OwnerAnswer>,
): Promise<OwnerSocket> {
  const address = await newAddress();
  const watchers = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    socket.unref();
    // A caller that vanishes is no failure of ours: its connection closes, and that is all it means.
    socket.on('error', () => socket.destroy());
    readLine(socket, REQUEST_PATIENCE).then(
      async (line) => {
        const request = parseJson(ownerRequest, line);
        if (request === undefined) {
          reply(socket, { answer: 'refused', reason: 'not a request that an owner of a team knows' });
        } else if (request.ask === 'watch') {
          watchers.add(socket);
          socket.once('close', () => watchers.delete(socket));
          socket.write(encode({ answer: 'watching' }));
        } else {
          const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()));
          reply(socket, await takeOver(request.pid, gone));
        }
      },
      () => socket.destroy(),
    );
  });
  // An owner is no reason for a process to stay.
  server.unref();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(storageError('listen at', address, error)));
    server.listen({ path: address, readableAll: false, writableAll: false }, resolve);
  });
  if (process.platform !== 'win32') await fs.chmod(address, 0o600);
  return {
    address,
    close() {
      server.close();
      for (const socket of watchers) socket.destroy();
    },
  };
}

/**
 * A connection to an owner, or undefined when it is gone.
 * @throws {StorageError} for any other reason not to reach it
 */
export function connectToOwner(address: string): Promise<net.Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(address);
    socket.once('connect', () => resolve(socket));
    socket.once('error', (error) => {
      const code = errorCode(error);
      if (code !== undefined && GONE.has(code)) resolve(undefined);
      else reject(storageError('reach the window that runs the team at', address, error));
    });
  });
}

/**
 * Says what is wanted and waits for the answer; the connection stays open.
 * @returns the answer, or why there is none: `silent` after `patience` milliseconds, `gone` when it closed
 */
export async function askOwner(
  socket: net.Socket,
  request: OwnerRequest,
  patience: number,
): Promise<OwnerAnswer | 'silent' | 'gone'> {
  socket.write(encode(request));
  try {
    const line = await readLine(socket, patience);
    return parseJson(ownerAnswer, line) ?? 'gone';
  } catch (error) {
    return error instanceof Silent ? 'silent' : 'gone';
  }
}

/** Removes the socket that a killed owner left behind. */
export async function removeLeftSocket(address: string): Promise<void> {
  const name = address.split('/').slice(-2).join('/');
  if (process.platform !== 'win32' && SOCKET_NAME.test(name)) await fs.rm(address, { force: true });
}

class Silent extends Error {}

/** The first line that comes. Rejects when none does in time, when it is too long, or when the other side closes. */
function readLine(socket: net.Socket, patience: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const timer = setTimeout(() => fail(new Silent('no line came in time')), patience);
    const data = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const end = received.indexOf(0x0a);
      if (end === -1 && received.length <= MAX_LINE_BYTES) return;
      if (end === -1 || end > MAX_LINE_BYTES) fail(new Error('the line is too long'));
      else {
        stop();
        resolve(received.subarray(0, end).toString('utf8'));
      }
    };
    const closed = () => fail(new Error('the connection closed'));
    const stop = () => {
      clearTimeout(timer);
      socket.off('data', data).off('close', closed).off('error', fail);
    };
    const fail = (error: Error) => {
      stop();
      reject(error);
    };
    socket.on('data', data).on('close', closed).on('error', fail);
  });
}

function reply(socket: net.Socket, answer: OwnerAnswer): void {
  socket.write(encode(answer));
  // The other side closes when it has what it wanted; one that only garbles is not waited for.
  if (answer.answer === 'refused') socket.end(() => socket.destroy());
  else socket.resume();
}

function encode(message: OwnerRequest | OwnerAnswer): string {
  return `${JSON.stringify(message)}\n`;
}

function parseJson<T>(schema: z.ZodType<T>, line: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data;
  } catch {
    // That it is not JSON is the answer.
    return undefined;
  }
}

async function newAddress(): Promise<string> {
  const name = randomBytes(8).toString('hex');
  if (process.platform === 'win32') return `\\\\.\\pipe\\handshake-${name}${name}`;
  for (const base of [process.env.XDG_RUNTIME_DIR, os.tmpdir(), '/tmp']) {
    if (base === undefined || base === '') continue;
    const folder = await ownFolder(base);
    const address = folder && join(folder, `${name}.sock`);
    if (address !== undefined && Buffer.byteLength(address) <= MAX_ADDRESS_BYTES) return address;
  }
  throw storageError('make a socket in', os.tmpdir(), new Error('no folder of this user can hold one'));
}

/** A folder that only this user can enter, or undefined where there can be none. */
async function ownFolder(base: string): Promise<string | undefined> {
  const uid = process.getuid?.() ?? 0;
  const folder = join(base, `handshake-${uid}`);
  try {
    await fs.mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') return undefined;
  }
  // Somebody else may have taken the name in a folder that all can write to.
  const found = await fs.lstat(folder);
  if (!found.isDirectory() || found.uid !== uid) return undefined;
  if ((found.mode & 0o077) !== 0) await fs.chmod(folder, 0o700);
  return folder;
}
