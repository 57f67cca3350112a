import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import express, { type Response as ExpressResponse, type RequestHandler } from 'express';
import request from 'supertest';
import { describe, expect, it, onTestFinished } from 'vitest';
import { compress } from '../../../src/server/front/compress.ts';
import { startTestServer } from '../../support/app.ts';
import { createFolder } from '../../support/folder.ts';
import { listenInTest } from '../../support/listen.ts';
import { askRaw } from '../../support/raw-http.ts';

const TEXT = JSON.stringify('words '.repeat(400));

const LONG = TEXT.repeat(100);

type Act = (res: ExpressResponse) => unknown;

/** What a handler does with a response, and what its client gets. */
const html: Act = (res) => res.type('html').end(LONG);
const GZIP = 'gzip, Vary: Accept-Encoding';
const LEFT = `identity, ${LONG.length} bytes`;

it.each<[string, Act, got: string, accepted?: string | null]>([
  ['by its preference', html, 'br, Vary: Accept-Encoding', 'gzip, deflate, br'],
  ['unless that is refused', html, GZIP, 'br;q=0, gzip'],
  ['without the header', html, `identity, Vary: Accept-Encoding, ${LONG.length} bytes`, null],
  ['with identity', html, `identity, Vary: Accept-Encoding, ${LONG.length} bytes`, 'identity'],
  ['if it is small', (res) => res.type('html').send('ö'), 'identity, Vary: Accept-Encoding, 2 bytes'],
  ['if it is empty', (res) => res.type('html').end(), 'identity, Vary: Accept-Encoding, 0 bytes'],
  ['with head and array', (res) => res.writeHead(200, ['content-type', 'text/css']).end(LONG), GZIP],
  ['of a stream, even if it is small', (res) => res.type('html').write('a') && res.end(), GZIP],
  ['after flushHeaders()', (res) => [res.type('html').flushHeaders(), res.end('a')], GZIP],
  [
    'encoded already',
    (res) => html(res.set('Content-Encoding', 'x')),
    `x, Vary: Accept-Encoding, ${LONG.length} bytes`,
  ],
  ['no-transform', (res) => html(res.set('Cache-Control', 'no-transform')), LEFT],
  ['a strong ETag', (res) => html(res.set('ETag', '"a"')), LEFT],
  ['a weak ETag', (res) => html(res.set('ETag', 'W/"a"')), GZIP],
  ['its own Vary', (res) => html(res.set('Vary', 'Cookie')), 'gzip, Vary: Cookie, Accept-Encoding'],
  ['an image', (res) => res.type('png').end(LONG), LEFT],
  [
    'an image with a trailer',
    (res) => res.type('png').set({ 'Transfer-Encoding': 'chunked', Trailer: 'X-A' }).end(LONG),
    'identity',
  ],
  ['204 with a body', (res) => html(res.status(204)), 'identity, Vary: Accept-Encoding'],
  ['no type', (res) => res.end(LONG), LEFT],
  ['a problem', (res) => res.type('application/problem+json').end(LONG), GZIP],
  ['an archive', (res) => res.type('zip').end(LONG), LEFT],
  ['events', (res) => res.type('text/event-stream').end(LONG), LEFT],
])('%s', async (_name, act, got, accepted = 'gzip') => {
  const app = express().use(compress, (_req, res) => void act(res));
  const port = await listenInTest(createServer(app));
  const given = accepted === null ? [] : [`Accept-Encoding: ${accepted}`];
  const { headers } = await askRaw(port, 'GET / HTTP/1.1', ['Host: localhost', ...given]);
  const { 'content-encoding': encoding = 'identity', vary, 'content-length': length } = headers;
  expect([encoding, vary && `Vary: ${vary}`, length && `${length} bytes`].filter(Boolean).join(', ')).toBe(got);
});

it('a response without a body has the same Vary header, and names no length that GET would not send', async () => {
  const app = express().use(compress, (req, res) => {
    if (req.method === 'GET') res.type('html').status(304).end();
    else res.writeHead(200, { 'Content-Type': 'text/html', 'Content-Length': TEXT.length }).end();
  });
  for (const ask of [request(app).get('/').expect(304), request(app).head('/').expect(200)]) {
    const { headers } = await ask.set('Accept-Encoding', 'gzip');
    expect([headers['content-length'], headers.vary]).toEqual([undefined, 'Accept-Encoding']);
  }
});

it('a part of a file is not compressed, and a compressed file offers no parts', async () => {
  const file = join(createFolder(onTestFinished), 'export.csv');
  writeFileSync(file, LONG);
  const server = await startTestServer({ compression: true, routes: (_req, res) => res.sendFile(file) });
  const ask = (...headers: string[]) => askRaw(server.port, 'GET /file HTTP/1.1', ['Host: localhost', ...headers]);
  const part = await ask('Accept-Encoding: gzip', 'Range: bytes=0-4999');
  expect([part.status, part.body]).toEqual([206, LONG.slice(0, 5000)]);
  expect(part.headers).toMatchObject({ 'content-range': `bytes 0-4999/${LONG.length}`, vary: 'Accept-Encoding' });
  const { headers } = await ask('Accept-Encoding: gzip');
  expect([headers['content-encoding'], headers['accept-ranges']]).toEqual(['gzip', undefined]);
  expect(headers.etag).toMatch(/^W\//);
  expect((await ask()).headers['accept-ranges']).toBe('bytes');
});

describe.each(['gzip', 'br', 'identity'])('a chunked response, %s', (encoding) => {
  /** Uses `fetch`, which decompresses while it reads. */
  async function fetchFrom(handler: RequestHandler) {
    const port = await listenInTest(createServer(express().use(compress, handler)));
    return fetch(`http://127.0.0.1:${port}/`, { headers: { 'accept-encoding': encoding } });
  }

  it('is sent chunk by chunk, without a flush', async () => {
    let send: (text: string | undefined) => void = () => undefined;
    const reply = await fetchFrom((_req, res) => {
      res.type('text/plain').flushHeaders();
      send = (text) => void (text === undefined ? res.end() : res.write(text));
    });
    expect(reply.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding);
    const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (const text of ['data: one\n\n', 'data: two\n\n']) {
      send(text);
      expect((await reader?.read())?.value).toBe(text);
    }
    send(undefined);
    expect((await reader?.read())?.done).toBe(true);
  });

  it('is written no faster than it is read, and ends when its reader leaves', async () => {
    const MANY = 2000; // 128 MB, more than a connection holds
    const text = randomBytes(48 * 1024).toString('base64');
    let sent = 0;
    let isClosed = false;
    const reply = await fetchFrom(async (_req, res) => {
      const closed = once(res, 'close').then(() => {
        isClosed = true;
      });
      for (res.type('text/plain'); sent < MANY && !isClosed; sent += 1) {
        if (!res.write(text)) await Promise.race([once(res, 'drain'), closed]);
      }
    });
    await expect.poll(async () => sent === (await setTimeout(100, sent))).toBe(true);
    expect(sent).toBeLessThan(MANY);
    await reply.body?.cancel();
    await expect.poll(() => isClosed).toBe(true);
  });

  it.each([['three'], []])('calls back after each chunk, and after an end with %j', async (...last: string[]) => {
    const calls: string[] = [];
    const reply = await fetchFrom((_req, res) => {
      res.type('text/plain').write('one ', 'utf8', () => {
        calls.push('write');
        res.write('two ', () => {
          calls.push('write without encoding');
          const end = () => calls.push('end');
          if (last[0] === undefined) res.end(end);
          else res.end(last[0], end);
        });
      });
    });
    expect(await reply.text()).toBe(`one two ${last.join()}`);
    await expect.poll(() => calls).toEqual(['write', 'write without encoding', 'end']);
  });
});
