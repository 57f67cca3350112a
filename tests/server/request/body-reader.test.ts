import { describe, expect, it, onTestFinished } from 'vitest';
import { type BodyRequest, createBodyReader } from '../../../src/server/request/body-reader.ts';
import { HttpError } from '../../../src/server/request/http-error.ts';
import { sendText } from '../../../src/server/request/send-body.ts';
import { KiB, Minute, Second } from '../../../src/shared/units.ts';
import { startTestServer } from '../../support/app.ts';
import { createGate } from '../../support/pages-app.tsx';
import { openSocket, parseReply } from '../../support/raw-http.ts';
import { until } from '../../support/until.ts';

const LIMIT = 100 * KiB;

interface SiteOptions extends NonNullable<Parameters<typeof createBodyReader>[0]> {
  /** Where the bodies go. */
  readonly place?: 'memory' | 'disk';
  readonly use?: (body: Buffer) => Promise<void>;
  readonly decode?: BodyRequest['decode'];
  readonly onPiece?: () => void;
}

/** A server that answers each body with its length, and trusts `X-Forwarded-For`. */
async function start({ use, decode, onPiece, place = 'memory', ...limits }: SiteOptions = {}) {
  const bodies = createBodyReader({ window: Minute, ...limits });
  const { port } = await startTestServer({
    trustProxy: ['loopback'],
    routes(req, res) {
      const request = { req, res, limit: LIMIT, decode };
      const answer = async (body: Buffer) => {
        await use?.(body);
        sendText(res, 200, `length ${body.length}`);
      };
      const read = () => bodies.read(request, answer);
      const store = async () => {
        const body = await bodies.receive(request, async (piece, { hold }) => {
          onPiece?.();
          hold(piece.length, 'disk');
        });
        await answer(Buffer.alloc(0)).finally(body.release);
      };
      (place === 'memory' ? read() : store()).catch((error: unknown) =>
        sendText(res, error instanceof HttpError ? error.status : 500, 'refused'),
      );
    },
  });

  /** Starts a body, and sends `bytes` of its `length`. */
  function begin(sender: string, bytes: number, length = LIMIT) {
    const head = `POST /body HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${sender}\r\nContent-Length: ${length}\r\n\r\n`;
    return openSocket(port, head + 'x'.repeat(bytes));
  }

  /** @returns the status of the response to a complete body */
  async function post(sender: string, length = 20 * KiB) {
    const body = begin(sender, length, length);
    await until(() => body.text.includes('\r\n\r\n') || body.isClosed, 'an answer');
    body.socket.destroy();
    return parseReply(body.text).status;
  }

  return { port, begin, post };
}

const statuses = (bodies: readonly { readonly text: string }[]) => bodies.map(({ text }) => parseReply(text).status);

describe('bodies that stall before their last byte', () => {
  it.each([
    ['from one sender', () => '203.0.113.1'],
    ['each from a different sender', (index: number) => `203.0.113.${index}`],
  ])('%s are dropped, and others get responses', async (_name, toSender) => {
    const { begin, post } = await start({ senderBytes: 500 * KiB, totalBytes: 2000 * KiB });
    const stalled = Array.from({ length: 75 }, (_, index) => begin(toSender(index), LIMIT - 1));
    await until(() => stalled.filter(({ isClosed }) => isClosed).length >= 50, 'the bodies beyond the limit');
    expect(await post('198.51.100.1')).toBe(200);
    expect(await post('203.0.113.1')).toBe(200);
    const ended = stalled.filter(({ isClosed }) => isClosed);
    expect(new Set(statuses(ended))).toEqual(new Set([429]));
    expect(ended.length).toBeLessThan(75);
  });

  it('get 408 after a period without progress, while a slow one is read to its end', async () => {
    const { begin } = await start({ window: Second, progress: 20 });
    const stalled = [begin('203.0.113.1', 0), begin('203.0.113.2', LIMIT - 1)];
    const slow = begin('203.0.113.3', 0, 250);
    const timer = setInterval(() => slow.socket.write('x'.repeat(10)), 100);
    onTestFinished(() => clearInterval(timer));
    await until(() => slow.text !== '', 'the end of the slow one');
    clearInterval(timer);
    expect(slow.text).toContain('length 250');
    await until(() => stalled.every(({ isClosed }) => isClosed), 'the end of the others');
    expect(statuses(stalled)).toEqual([408, 408]);
    for (const { text } of stalled) expect(parseReply(text).headers.connection).toBe('close');
  });

  it('count even if they never start', async () => {
    const { begin, post } = await start({ senderBodies: 3 });
    const stalled = Array.from({ length: 10 }, () => begin('203.0.113.1', 0));
    await until(() => stalled.filter(({ isClosed }) => isClosed).length === 7, 'the count to fall to its limit');
    expect(await post('203.0.113.1')).toBe(200);
    expect(new Set(statuses(stalled.filter(({ isClosed }) => isClosed)))).toEqual(new Set([429]));
  });
});

it.each<[string, SiteOptions, other: string]>([
  ['disk of its sender', { place: 'disk', senderDiskBytes: 150 * KiB }, '203.0.113.1'],
  ['disk of all senders', { place: 'disk', totalDiskBytes: 150 * KiB }, '203.0.113.2'],
  ['memory', { totalBytes: 150 * KiB }, '203.0.113.2'],
])('a body has its share of the %s until it was used, so that others get 429', async (_name, options, other) => {
  const used = createGate();
  let begun = 0;
  const use = async () => {
    begun += 1;
    if (begun === 1) await used.promise;
  };
  const { begin, post } = await start({ use, ...options });
  const first = begin('203.0.113.1', LIMIT);
  await until(() => begun === 1, 'its use');
  expect([await post(other, LIMIT), await post(other, 20 * KiB)]).toEqual([429, 200]);
  used.resolve();
  await until(() => first.text.includes('length'), 'its response');
  expect(await post(other, LIMIT)).toBe(200);
});

it('memory for bodies is released after a body was used or its sender left', async () => {
  const { begin, post } = await start({ totalBytes: 150 * KiB });
  for (let round = 0; round < 10; round += 1) {
    const left = begin('203.0.113.1', 90 * KiB);
    await until(() => left.socket.bytesWritten > 90 * KiB, 'most of it');
    left.socket.destroy();
    expect(await post('203.0.113.1', LIMIT)).toBe(200);
  }
});

it('memory for bodies is measured after decoding', async () => {
  const { post } = await start({ totalBytes: 150 * KiB, decode: async (wire) => Buffer.alloc(wire.length * 10) });
  expect(await post('203.0.113.1', 10 * KiB)).toBe(200);
  expect(await post('203.0.113.1', 20 * KiB)).toBe(429);
  expect(await post('203.0.113.1', 10 * KiB)).toBe(200);
});

it('comes in few pieces from chunks of one byte, because each piece takes more memory than its byte', async () => {
  let pieces = 0;
  const { port } = await start({ place: 'disk', onPiece: () => pieces++ });
  const head = 'POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
  const body = openSocket(port, `${head}${'1\r\nx\r\n'.repeat(20_000)}0\r\n\r\n`);
  await until(() => body.text.includes('length'), 'its response');
  expect(pieces).toBeLessThan(200);
});

it('is limited by decoding one body at a time, because each can take megabytes', async () => {
  let atOnce = 0;
  let most = 0;
  const { post } = await start({
    decode: async (wire) => {
      most = Math.max(most, ++atOnce);
      await new Promise((resolve) => setTimeout(resolve, 5));
      atOnce -= 1;
      return wire;
    },
  });
  expect(await Promise.all(Array.from({ length: 20 }, () => post('203.0.113.1', 100)))).toEqual(Array(20).fill(200));
  expect(most).toBe(1);
});
