import type { RequestHandler } from 'express';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { createFunnel } from '../../../../src/server/engine/errors/funnel.ts';
import { HttpError, toPublicError } from '../../../../src/server/engine/errors/http-error.ts';
import type { PageSteps } from '../../../../src/server/engine/pages/page-handlers.ts';
import { forbidden, redirect } from '../../../../src/shared/engine/routing/control-flow.ts';
import { createFakePages, createTestApp, spyOnLog } from '../../../support/app.ts';
import { noScrubber } from '../../../support/unguarded.ts';

function appThat(pages: PageSteps['pages'], overrides: Partial<PageSteps> = {}) {
  return createTestApp({ pages: createFakePages({ pages, ...overrides }) });
}

it('follows a redirect that a step throws', async () => {
  const reply = await request(appThat(() => redirect('/admin')))
    .get('/')
    .expect(303);
  expect(reply.headers.location).toBe('/admin');
});

it("shows the product's page for a control-flow response", async () => {
  const reply = await request(appThat(() => forbidden()))
    .get('/')
    .expect(403);
  expect(reply.text).toBe('<h1>forbidden</h1>');
});

it("shows the built-in page if the product's page fails", async () => {
  const app = appThat(() => forbidden(), {
    renderError: async () => {
      throw new Error('canary');
    },
  });
  const reply = await request(app).get('/').expect(500);
  expect(reply.text).toContain('Application error:');
  expect(reply.text).not.toContain('canary');
});

describe('the response format', () => {
  it.each([
    ['application/json', true],
    ['application/problem+json, */*;q=0.1', true],
    ['text/html,application/json', false],
    ['*/*', false],
  ])('depends on Accept: %s, JSON: %s', async (accept, json) => {
    const reply = await request(
      appThat(() => {
        throw new HttpError(418, 'Tea.');
      }),
    )
      .get('/')
      .set('Accept', accept)
      .expect(418);
    expect(reply.headers['content-type']?.includes('problem+json')).toBe(json);
  });
});

describe.each([401, 403, 404, 409])('an HttpError of status %i', (status) => {
  const answer = (error: unknown, accept: string) =>
    request(
      appThat(
        () => {
          throw error;
        },
        { renderError: async (_req, res, shown) => void res.status(shown.status).json(shown) },
      ),
    )
      .get('/')
      .set('Accept', accept)
      .expect(status);

  it("shows its message, in JSON and on the product's page", async () => {
    const error = new HttpError(status, 'The sluice is closed.');
    expect(JSON.parse((await answer(error, 'application/json')).text)).toMatchObject({
      detail: 'The sluice is closed.',
    });
    expect((await answer(error, 'text/html')).body).toMatchObject({ status, message: 'The sluice is closed.' });
  });
});

describe.each(['/', '/api/x'])('an error in a handler at %s', (path) => {
  const { log, lines } = spyOnLog();
  const answerTo = (error: unknown) => {
    const fail: RequestHandler = (_req, res) => {
      res.setHeader('Set-Cookie', 'seen=1');
      res.setHeader('ETag', '"x"');
      throw error;
    };
    return request(
      createTestApp({ log, funnel: createFunnel({ scrubber: noScrubber, log, build: 'test' }), steps: [fail] }),
    )
      .get(path)
      .set('Accept', 'application/json');
  };

  it.each([
    ['status', new Error('canary'), 409],
    ['statusCode', new Error('canary'), 418],
    ['status', {}, 404],
  ])('with a 4xx in `%s` keeps it, hides its message and is not a failure', async (name, error, status) => {
    lines.length = 0;
    const reply = await answerTo(Object.assign(error, { [name]: status })).expect(status);
    expect(reply.text).not.toContain('canary');
    expect(reply.headers).toMatchObject({ 'set-cookie': ['seen=1'] });
    expect(reply.headers.etag).toBeUndefined();
    expect(lines.filter(({ digest }) => digest !== undefined)).toEqual([]);
  });

  it('shows its message if `expose` is set', async () => {
    const reply = await answerTo(Object.assign(new Error('The sluice is closed.'), { status: 409, expose: true }));
    expect(JSON.parse(reply.text)).toMatchObject({ status: 409, detail: 'The sluice is closed.' });
  });

  it('sends the headers of a 4xx, except those about a body', async () => {
    const headers = { 'Content-Range': 'bytes */10', 'Content-Length': '5', 'X-Bad\n': 'x', 'X-Count': 3 };
    const reply = await answerTo(Object.assign(new Error(''), { status: 416, headers })).expect(416);
    expect(reply.headers).toMatchObject({ 'content-range': 'bytes */10', 'x-count': '3' });
    expect(JSON.parse(reply.text)).toMatchObject({ status: 416 });
  });

  it('with a 5xx keeps it, and is a failure', async () => {
    const headers = { 'Retry-After': '30', 'X-Upstream': 'canary' };
    const reply = await answerTo(Object.assign(new Error('canary'), { status: 503, expose: true, headers })).expect(
      503,
    );
    expect(reply.headers['retry-after']).toBe('30');
    expect(reply.headers['x-error-digest']).toMatch(/^\w{8}-\w{8}$/);
    expect(reply.headers['set-cookie']).toBeUndefined();
    expect(JSON.stringify([reply.text, reply.headers])).not.toContain('canary');
  });

  it.each([200, 302, 999, '404', 404.5])('ignores the status %j', async (status) => {
    await answerTo(Object.assign(new Error('x'), { status })).expect(500);
  });
});

it("leaves the text to the product's page if an HttpError has no message", () => {
  expect([401, 403, 404].map((status) => toPublicError(new HttpError(status)))).toEqual([
    { kind: 'unauthorized', status: 401 },
    { kind: 'forbidden', status: 403 },
    { kind: 'not-found', status: 404 },
  ]);
  expect(toPublicError(new HttpError(405))).toMatchObject({
    kind: 'public',
    message: expect.stringContaining('Allow'),
  });
});

it('drops the headers of the failed response', async () => {
  const app = appThat((_req, res) => {
    res.setHeader('Set-Cookie', 'session=canary');
    res.setHeader('Cache-Control', 'public, max-age=600');
    res.setHeader('ETag', '"x"');
    throw new Error('boom');
  });
  const reply = await request(app).get('/').expect(500);
  expect(reply.headers['set-cookie']).toBeUndefined();
  expect(reply.headers.etag).toBeUndefined();
  expect(reply.headers['cache-control']).toBe('no-store');
});

it('aborts a response that has started, so that it cannot be mistaken for a complete one', async () => {
  const app = appThat((_req, res) => {
    res.write('half');
    throw new Error('boom');
  });
  await expect(request(app).get('/')).rejects.toThrow(/aborted|hang up/);
});
