import { randomBytes } from 'node:crypto';
import { createReadStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import express, { type RequestHandler, type Response, Router } from 'express';
import passport from 'passport';
import request from 'supertest';
import { afterAll, describe, expect, it } from 'vitest';
import type { PageSteps } from '../../../src/server/pages/page-handlers.ts';
import { HttpError } from '../../../src/server/request/http-error.ts';
import { forbidden, redirect } from '../../../src/shared/routing/control-flow.ts';
import { MiB } from '../../../src/shared/units.ts';
import { createFakePages, createTestApp, spyOnLog, startTestServer, type TestAppOptions } from '../../support/app.ts';
import { createFolder } from '../../support/folder.ts';

/** Asks an app whose pages throw. */
function ask(pages: PageSteps['pages'], overrides: Partial<PageSteps> = {}) {
  return request(createTestApp({ pages: createFakePages({ pages, ...overrides }) })).get('/');
}

it("follows a redirect, shows the product's page for another control-flow response, and the built-in page if that fails", async () => {
  expect((await ask(() => redirect('/admin')).expect(303)).headers.location).toBe('/admin');
  await ask(() => forbidden()).expect(403, '<h1>forbidden</h1>');
  const renderError = () => Promise.reject(new Error('canary'));
  const reply = await ask(() => forbidden(), { renderError }).expect(500);
  expect(reply.text).toContain('Application error:');
  expect(reply.text).not.toContain('canary');
});

it.each([
  ['application/json', '', true],
  ['application/problem+json, */*;q=0.1', '', true],
  ['text/html,application/json', '', false],
  ['*/*', '', false],
  ['*/*', 'application/json; charset=utf-8', true],
  ['text/html', 'application/json', false],
])('with Accept: %s and Content-Type: %s, the response is JSON: %s', async (accept, type, json) => {
  const teapot = () => {
    throw new HttpError(418, 'Tea.');
  };
  const reply = await ask(teapot)
    .set({ Accept: accept, 'Content-Type': type })
    .expect(418, json ? /"detail":"Tea\."/ : /./);
  expect(reply.headers['content-type']?.includes('problem+json')).toBe(json);
});

it.each([401, 403, 404, 409])("an HttpError of status %i shows its message on the product's page", async (status) => {
  const fail = () => {
    throw new HttpError(status, 'The sluice is closed.');
  };
  const renderError: PageSteps['renderError'] = async (_req, res, { message }) => void res.status(status).send(message);
  await ask(fail, { renderError }).set('Accept', 'text/html').expect(status, 'The sluice is closed.');
});

describe.each([true, false])('with compression: %s', (compression) => {
  /** Sends half or all of a response, and then throws. The body is more than a connection holds. */
  const ask = async (act: (res: Response, text: string) => unknown) => {
    const text = randomBytes(4 * MiB).toString('base64');
    const routes: RequestHandler = (_req, res) => {
      act(res.type('text'), text);
      throw new Error('canary');
    };
    const { port, lines } = await startTestServer({ compression, routes });
    const body = await fetch(`http://127.0.0.1:${port}/x`, { headers: { 'Accept-Encoding': 'gzip' } }).then((reply) =>
      reply.text(),
    );
    expect(lines.filter(({ digest }) => digest !== undefined)).not.toEqual([]);
    return body === text;
  };

  it.each([
    ['end()', (res: Response, text: string) => res.end(text)],
    ['send()', (res: Response, text: string) => res.send(text)],
    ['write() and end()', (res: Response, text: string) => [res.write(text), res.end()]],
  ])('an error after %s leaves the response complete', async (_name, act) => {
    expect(await ask(act)).toBe(true);
  });

  it('an error between write() and end() cuts it off', async () => {
    await expect(ask((res, text) => res.write(text))).rejects.toThrow();
  });
});

const file = join(createFolder(afterAll), 'large.bin');
writeFileSync(file, Buffer.alloc(16 * MiB));

/** @returns the failures that were logged after the response closed */
async function download(send: (res: Response) => unknown, read: (port: number) => Promise<unknown>) {
  const closed = Promise.withResolvers<void>();
  const routes: RequestHandler = (_req, res) => {
    res.on('close', closed.resolve);
    return send(res);
  };
  const { port, lines } = await startTestServer({ routes });
  await read(port);
  await closed.promise;
  await sleep(100); // until an error would be passed on
  return lines.filter(({ digest }) => digest !== undefined);
}

const leave = async (port: number) => {
  const controller = new AbortController();
  const reply = await fetch(`http://127.0.0.1:${port}/x`, controller);
  await reply.body?.getReader().read();
  controller.abort();
};

it.each<[string, (res: Response) => unknown]>([
  ['sendFile()', (res) => void res.sendFile(file, (error) => error && res.req.next?.(error))],
  ['pipeline()', (res) => pipeline(createReadStream(file), res)],
])('a download by %s that the visitor cancels is not a failure', async (_name, send) => {
  expect(await download(send, leave)).toEqual([]);
});

it('a download whose source ends too early is a failure', async () => {
  const broken = new Readable({ read() {} });
  const send = (res: Response) => {
    broken.push('x');
    setTimeout(() => broken.destroy(), 20);
    return pipeline(broken, res);
  };
  const failures = await download(send, async (port) => {
    const reply = await fetch(`http://127.0.0.1:${port}/x`);
    await reply.text().catch(() => undefined);
  });
  expect(failures).toHaveLength(1);
});

it.each<[string, (handler: RequestHandler) => TestAppOptions]>([
  ['a step', (handler) => ({ steps: [handler] })],
  ['a route', (handler) => ({ routes: Router().use(handler) })],
  ['an API', (handler) => ({ api: [Router().use(handler)] })],
  ['an existing app', (handler) => ({ existingApp: { app: express().use(handler) } })],
])('an error in a package that is %s is not blamed on a line of Spillway', async (_name, toOptions) => {
  const { log, lines } = spyOnLog();
  const unknown: RequestHandler = passport.authenticate('nowhere');
  await request(createTestApp({ log, ...toOptions(unknown) })).get('/api/x');
  const failures = lines.filter(({ title }) => title !== undefined);
  expect(failures).toMatchObject([{ title: 'Error: Unknown authentication strategy "nowhere"' }]);
  expect(failures[0]?.location).toBeUndefined();
});

describe.each(['/', '/api/x'])('an error in a handler at %s', (path) => {
  const answerTo = async (error: object) => {
    const { log, lines } = spyOnLog();
    const fail: RequestHandler = (_req, res) => {
      res.set({ 'Set-Cookie': 'seen=1', ETag: '"x"', 'Cache-Control': 'public, max-age=600' });
      res.attachment('report.csv');
      throw error;
    };
    const app = createTestApp({ log, steps: [fail] });
    const reply = await request(app).get(path).set('Accept', 'application/json');
    return { ...reply, status: reply.status, problem: JSON.parse(reply.text), headers: reply.headers, lines };
  };

  it.each([
    [Object.assign(new Error('canary'), { status: 409 }), 409],
    [Object.assign(new Error('canary'), { statusCode: 418 }), 418],
    [{ status: 404 }, 404],
    [Object.assign(new Error('canary'), { status: 404, headers: { 'Set-Cookie': 'canary', 'X-A': 'canary' } }), 404],
  ])('%j keeps its 4xx, hides its message and headers, and is not a failure', async (error, status) => {
    const { problem, lines, ...reply } = await answerTo(error);
    expect(problem).toMatchObject({ status });
    expect(JSON.stringify([problem, reply.headers])).not.toContain('canary');
    expect(reply.headers).toMatchObject({ 'set-cookie': ['seen=1'] });
    expect(reply.headers.etag).toBeUndefined();
    expect(reply.headers['content-disposition']).toBeUndefined();
    expect(lines.filter(({ digest }) => digest !== undefined)).toEqual([]);
  });

  it.each([
    ['Stripe', { statusCode: 404, requestId: 'req_1', raw: {} }],
    ['OpenAI', { status: 401, requestID: 'req_1', headers: {} }],
    ['Octokit and axios', { status: 404, request: {}, response: { status: 404 } }],
  ])('of an HTTP client, such as %s, is a failure whatever another server answered', async (_name, fields) => {
    const { status, headers } = await answerTo(Object.assign(new Error('canary'), fields));
    expect(status).toBe('status' in fields ? fields.status : fields.statusCode);
    expect(headers['x-error-digest']).toMatch(/^\w{8}-\w{8}$/);
  });

  it('shows its message and headers if `expose` is set, except headers about a body', async () => {
    const headers = { 'Content-Range': 'bytes */10', 'Content-Length': '5', 'X-Bad\n': 'x', 'X-Count': 3 };
    const error = Object.assign(new Error('The sluice is closed.'), { status: 409, expose: true, headers });
    expect(await answerTo(error)).toMatchObject({
      problem: { status: 409, detail: 'The sluice is closed.' },
      headers: { 'content-range': 'bytes */10', 'x-count': '3' },
    });
  });

  it('with a 5xx keeps it, is a failure, and drops the headers of the failed response', async () => {
    const headers = { 'Retry-After': '30', 'X-Upstream': 'canary' };
    const reply = await answerTo(Object.assign(new Error('canary'), { status: 503, expose: true, headers }));
    expect(reply).toMatchObject({
      status: 503,
      headers: {
        'retry-after': '30',
        'x-error-digest': expect.stringMatching(/^\w{8}-\w{8}$/),
        'cache-control': 'no-store',
      },
    });
    expect([reply.headers['set-cookie'], reply.headers.etag]).toEqual([undefined, undefined]);
    expect(JSON.stringify([reply.problem, reply.headers])).not.toContain('canary');
  });

  it.each([200, 302, 999, '404', 404.5])('ignores the status %j', async (status) => {
    expect((await answerTo(Object.assign(new Error('x'), { status }))).status).toBe(500);
  });
});
