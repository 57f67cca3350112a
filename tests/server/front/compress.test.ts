import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type RequestHandler } from 'express';
import request from 'supertest';
import { describe, expect, it, onTestFinished } from 'vitest';
import { compress } from '../../../src/server/front/compress.ts';

const TEXT = JSON.stringify('words '.repeat(400));

/** Asks for a response of this type. */
function ask(type: string, method: 'get' | 'head' = 'get', status = 200) {
  const headers = status === 304 ? {} : { 'Content-Type': type, 'Content-Length': TEXT.length };
  const app = express().use(
    compress(),
    (_req, res) => void res.writeHead(status, headers).end(status === 304 ? undefined : TEXT),
  );
  return request(app)[method]('/').set('Accept-Encoding', 'gzip');
}

it.each([
  'text/html; charset=utf-8',
  'application/json; charset=utf-8',
  'application/problem+json',
  'application/x-ndjson',
])('a response of type %s is compressed', async (type) => {
  const { headers, text } = await ask(type).buffer(true);
  expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
  expect(text).toBe(TEXT);
});

it.each(['image/png', 'application/zip'])('a response of type %s is not compressed', async (type) => {
  expect((await ask(type)).headers['content-encoding']).toBeUndefined();
});

it('a response without a body has the same Vary header, and names no length that GET would not send', async () => {
  expect((await ask('text/html', 'get', 304).expect(304)).headers.vary).toBe('Accept-Encoding');
  const { headers } = await ask('text/html', 'head').expect(200);
  expect([headers['content-length'], headers.vary]).toEqual([undefined, 'Accept-Encoding']);
});

describe.each(['gzip', 'br', 'identity'])('a chunked response, %s', (encoding) => {
  /** Uses `fetch`, which decompresses while it reads. */
  async function fetchFrom(handler: RequestHandler): Promise<Response> {
    const server = createServer(express().use(compress(), handler));
    onTestFinished(() => void server.close().closeAllConnections());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return fetch(`http://127.0.0.1:${port}/`, { headers: { 'accept-encoding': encoding } });
  }

  it('is sent chunk by chunk, without a flush', async () => {
    let send: (text: string | undefined) => void = () => undefined;
    const reply = await fetchFrom((_req, res) => {
      res.type('text/event-stream').flushHeaders();
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
