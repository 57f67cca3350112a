import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import express, { type RequestHandler } from 'express';
import request from 'supertest';
import { describe, expect, it, onTestFinished } from 'vitest';
import { compress } from '../../../../src/server/engine/assets/compress.ts';

const TEXT = JSON.stringify('words '.repeat(400));

function createApp(type: string, status = 200) {
  return express()
    .use(compress())
    .use((_req, res) => {
      res.statusCode = status;
      res.setHeader('Content-Type', type);
      res.setHeader('Content-Length', TEXT.length);
      if (status === 304) for (const name of ['Content-Type', 'Content-Length']) res.removeHeader(name);
      res.end(status === 304 ? undefined : TEXT);
    });
}

const ask = (type: string) => request(createApp(type)).get('/').set('Accept-Encoding', 'gzip');

describe('a response', () => {
  it.each([
    'text/html; charset=utf-8',
    'application/json; charset=utf-8',
    'application/problem+json',
    'application/x-ndjson',
  ])('of type %s is compressed', async (type) => {
    const { headers, text } = await ask(type).buffer(true);
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(text).toBe(TEXT);
  });

  it.each(['image/png', 'application/zip'])('of type %s is not compressed', async (type) => {
    expect((await ask(type)).headers['content-encoding']).toBeUndefined();
  });

  it('without a body has the same Vary header as the one with a body', async () => {
    expect((await request(createApp('text/html', 304)).get('/').expect(304)).headers.vary).toBe('Accept-Encoding');
  });

  it('to HEAD does not name a Content-Length that GET would not send', async () => {
    const head = await request(createApp('text/html')).head('/').set('Accept-Encoding', 'gzip').expect(200);
    expect(head.headers['content-length']).toBeUndefined();
    expect(head.headers.vary).toBe('Accept-Encoding');
  });
});

/** Uses `fetch`, which decompresses while it reads. */
async function fetchFrom(handler: RequestHandler, encoding = 'gzip'): Promise<Response> {
  const server = createServer(express().use(compress()).use(handler));
  onTestFinished(() => void server.close().closeAllConnections());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return fetch(`http://127.0.0.1:${port}/`, { headers: { 'accept-encoding': encoding } });
}

describe.each(['gzip', 'br', 'identity'])('a chunked response, %s', (encoding) => {
  it('is sent chunk by chunk, without a flush', async () => {
    let send: (text: string | undefined) => void = () => undefined;
    const reply = await fetchFrom((_req, res) => {
      res.type('text/event-stream').flushHeaders();
      send = (text) => void (text === undefined ? res.end() : res.write(text));
    }, encoding);
    expect(reply.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding);
    const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (const text of ['data: one\n\n', 'data: two\n\n']) {
      send(text);
      expect((await reader?.read())?.value).toBe(text);
    }
    send(undefined);
    expect((await reader?.read())?.done).toBe(true);
  });

  it('calls back after each chunk, and after the end', async () => {
    const calls: string[] = [];
    const reply = await fetchFrom((_req, res) => {
      res.type('text/plain');
      res.write('one ', 'utf8', () => {
        calls.push('write');
        res.write('two ', () => {
          calls.push('write without encoding');
          res.end('three', () => calls.push('end'));
        });
      });
    }, encoding);
    expect(await reply.text()).toBe('one two three');
    await expect.poll(() => calls).toEqual(['write', 'write without encoding', 'end']);
  });

  it('calls back if it ends without text', async () => {
    const ended = Promise.withResolvers<void>();
    const reply = await fetchFrom((_req, res) => {
      res.type('text/plain').write('all');
      res.end(() => ended.resolve());
    }, encoding);
    expect(await reply.text()).toBe('all');
    await ended.promise;
  });

  it('is complete if it is larger than all buffers', async () => {
    const piece = Buffer.from('0123456789abcdef'.repeat(4096));
    const pieces = 64;
    const reply = await fetchFrom((_req, res) => {
      res.type('text/plain');
      void pipeline(Readable.from(Array.from({ length: pieces }, () => piece)), res);
    }, encoding);
    const text = await reply.text();
    expect(text).toHaveLength(pieces * piece.length);
    expect(text.endsWith('abcdef')).toBe(true);
  });
});
