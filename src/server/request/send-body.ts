import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { KiB, Millisecond } from '../../shared/units.ts';
import { NDJSON_TYPE } from '../../shared/wire/protocol.ts';

/** The type of documents. */
export const HTML_TYPE = 'text/html; charset=utf-8';

/** Sends a whole response that must not be cached. Node leaves out the body of a response to HEAD. */
export function sendBody(
  res: ServerResponse,
  status: number,
  { type, body }: { type: string; body: string | Buffer },
): void {
  res.statusCode = status;
  res.setHeader('Content-Type', type);
  res.setHeader('Content-Length', Buffer.byteLength(body));
  res.setHeader('Cache-Control', 'no-store');
  res.end(body);
}

export function sendJson(res: ServerResponse, status: number, value: object): void {
  sendBody(res, status, { type: 'application/json', body: JSON.stringify(value) });
}

export function sendText(res: ServerResponse, status: number, message: string): void {
  sendBody(res, status, { type: 'text/plain; charset=utf-8', body: `${message}\n` });
}

/** Largest body that fits with its head into the 16 KiB that Node sends without a buffer of its own (bytes). */
const ONE_WRITE = 15 * KiB;

/**
 * Ends a reply with bytes that are ready. As text of the same bytes, a small body is one write with its head, which
 * takes a tenth less than two buffers.
 */
export function endWith(res: ServerResponse, bytes: Buffer): void {
  if (bytes.length <= ONE_WRITE) res.end(bytes.toString('latin1'), 'latin1');
  else res.end(bytes);
}

/**
 * Sends values as lines of JSON (NDJSON), no faster than they are read: the next value is requested when there is room
 * for it, and none after the reader has left. Resolves in both cases, but only once the value is there that `lines` waits for.
 *
 * @throws the errors of `lines`: before the first line nothing has been sent; after it the reply must be cut
 */
export async function sendLines(
  request: IncomingMessage,
  response: ServerResponse,
  lines: AsyncIterable<unknown>,
): Promise<void> {
  response.setHeader('Content-Type', NDJSON_TYPE);
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  const iterator = lines[Symbol.asyncIterator]();
  try {
    const first = await iterator.next();
    if (response.closed) return;
    await pipeline(Readable.from(toText(first, iterator)), response);
  } catch (error) {
    if (!isReaderGone(error)) throw error;
  } finally {
    await iterator.return?.();
  }
}

/** After so long (ms), other requests have their turn. A database such as SQLite answers without one. */
const TURN_TIME = 10 * Millisecond;

async function* toText(first: IteratorResult<unknown>, iterator: AsyncIterator<unknown>): AsyncGenerator<string> {
  let since = performance.now();
  for (let line = first; !line.done; line = await iterator.next()) {
    yield `${JSON.stringify(line.value)}\n`;
    if (performance.now() - since < TURN_TIME) continue;
    await nextTurn();
    since = performance.now();
  }
}

function isReaderGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE';
}
