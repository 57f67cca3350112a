import request, { type Test } from 'supertest';
import { describe, expect, it } from 'vitest';
import { doctorPage } from '../../../../src/server/engine/monitoring/doctor-page.ts';
import {
  DOCTOR_BODY,
  DOCTOR_EVENTS,
  DOCTOR_SEEN,
  DOCTOR_STREAM,
  MAX_COUNTED_BYTES,
  STREAM_STEPS,
} from '../../../../src/server/engine/monitoring/doctor-protocol.ts';
import type { MayRead } from '../../../../src/server/engine/monitoring/may-read.ts';
import { createOrigins } from '../../../../src/server/engine/protection/origins.ts';
import { createProxyTrust } from '../../../../src/server/engine/protection/proxy-trust.ts';
import { createTestApp, spyOnLog } from '../../../support/app.ts';

interface Options {
  readonly mayRead?: MayRead;
  readonly publicOrigins?: readonly string[];
  readonly trustProxy?: number | readonly string[];
}

function createApp({ mayRead = async () => true, publicOrigins = [], trustProxy = 0 }: Options = {}) {
  return createTestApp({
    publicOrigins,
    trustProxy,
    doctorPage: doctorPage({
      origins: createOrigins(publicOrigins, 'http://127.0.0.1'),
      trust: createProxyTrust(trustProxy),
      mayRead,
      compression: true,
      hasSockets: false,
    }),
  });
}

const withToken = (test: Test): Test => test.set('Authorization', 'Bearer a-token-of-a-viewer');

describe("the server's view of a request", () => {
  it('contains only names of headers, for any host', async () => {
    const app = createApp({ publicOrigins: ['https://example.com'], trustProxy: 1 });
    const { body, text, headers } = await withToken(request(app).get(DOCTOR_SEEN))
      .set('Host', 'stranger.example')
      .set('X-Forwarded-For', '198.51.100.9')
      .set('X-Forwarded-Proto', 'https')
      .set('Cookie', 'a=secret-of-a-visitor');
    expect(body).toMatchObject({
      address: '198.51.100.9',
      isPeerTrusted: true,
      isVisitorListed: false,
      scheme: 'https',
      host: 'stranger.example',
      hasOrigins: true,
    });
    expect(body.origin).toBeUndefined();
    expect(body.headers).toEqual(expect.arrayContaining(['cookie', 'x-forwarded-for', 'authorization']));
    expect(text).not.toContain('secret');
    expect(text).not.toContain('a-token');
    expect(headers['cache-control']).toBe('no-store');
  });

  it('says which addresses are trusted proxies, and under which origin it answers', async () => {
    const app = createApp({ trustProxy: ['loopback'], publicOrigins: ['http://site.example'] });
    const { body } = await withToken(request(app).get(DOCTOR_SEEN)).set('Host', 'site.example');
    expect(body).toMatchObject({ isVisitorListed: true, isPeerTrusted: true, origin: 'http://site.example' });
  });
});

describe('access', () => {
  it.each([DOCTOR_SEEN, DOCTOR_STREAM, DOCTOR_EVENTS, DOCTOR_BODY])(
    'without a token is not possible: %s',
    async (path) => {
      const asked: string[] = [];
      const mayRead: MayRead = async () => {
        asked.push(path);
        return true;
      };
      expect((await request(createApp({ mayRead })).get(path)).status).toBe(404);
      expect(asked).toEqual([]);
    },
  );

  it('is refused with a wrong token and limited after too many, and a failed check shows no details', async () => {
    const ask = (mayRead: MayRead) => withToken(request(createApp({ mayRead })).get(DOCTOR_SEEN));
    const wrong = await ask(async () => false);
    expect([wrong.status, wrong.headers['www-authenticate']]).toEqual([401, 'Bearer']);
    const late = await ask(async () => ({ waitMs: 5500 }));
    expect([late.status, late.headers['retry-after']]).toEqual([429, '6']);
    const failed = await ask(async () => {
      throw new Error('canary');
    });
    expect(failed.status).toBe(500);
    expect(failed.text).not.toContain('canary');
  });

  it('uses one method per part', async () => {
    const app = createApp();
    expect((await withToken(request(app).post(DOCTOR_SEEN))).headers.allow).toBe('GET');
    expect((await withToken(request(app).get(DOCTOR_BODY))).headers.allow).toBe('POST');
  });
});

it.each([
  [DOCTOR_STREAM, 'text/html; charset=utf-8'],
  [DOCTOR_EVENTS, 'text/event-stream'],
])('streams %s in steps, with headers against buffering and caching', async (path, type) => {
  const reply = await withToken(request(createApp()).get(path)).buffer(true);
  expect(reply.headers).toMatchObject({ 'content-type': type, 'x-accel-buffering': 'no', 'cache-control': 'no-store' });
  expect(reply.text.match(/step \d/g)).toHaveLength(STREAM_STEPS);
});

it('counts a body up to the size limit of forms, and logs nothing of it', async () => {
  const { log, lines } = spyOnLog();
  const app = createTestApp({
    log,
    doctorPage: doctorPage({
      origins: createOrigins([], 'http://127.0.0.1'),
      trust: createProxyTrust(0),
      mayRead: async () => true,
      compression: false,
      hasSockets: true,
    }),
  });
  const send = (size: number) =>
    withToken(request(app).post(DOCTOR_BODY)).type('application/octet-stream').send(Buffer.alloc(size, 'canary'));
  expect((await send(MAX_COUNTED_BYTES)).body).toEqual({ bytes: MAX_COUNTED_BYTES });
  expect((await send(0)).body).toEqual({ bytes: 0 });
  expect((await send(MAX_COUNTED_BYTES + 1)).status).toBe(413);
  expect(JSON.stringify(lines)).not.toContain('canary');
});
