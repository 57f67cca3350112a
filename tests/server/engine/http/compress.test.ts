import express from 'express';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { compress } from '../../../../src/server/engine/http/compress.ts';

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

describe('an answer', () => {
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

  it.each(['image/png', 'application/zip'])('of type %s stays as it is', async (type) => {
    expect((await ask(type)).headers['content-encoding']).toBeUndefined();
  });

  it('without a body names what it was chosen by, as the whole one does', async () => {
    expect((await request(createApp('text/html', 304)).get('/').expect(304)).headers.vary).toBe('Accept-Encoding');
  });

  it('to HEAD does not name the length of bytes that GET would not send', async () => {
    const head = await request(createApp('text/html')).head('/').set('Accept-Encoding', 'gzip').expect(200);
    expect(head.headers['content-length']).toBeUndefined();
    expect(head.headers.vary).toBe('Accept-Encoding');
  });
});
