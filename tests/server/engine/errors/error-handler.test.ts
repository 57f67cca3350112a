import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { HttpError, toPublicError } from '../../../../src/server/engine/errors/http-error.ts';
import type { PageSteps } from '../../../../src/server/engine/pages/pages.ts';
import { forbidden, redirect } from '../../../../src/shared/engine/outcome.ts';
import { createFakePages, createTestApp } from '../../../support/app.ts';

function appThat(pages: PageSteps['pages'], overrides: Partial<PageSteps> = {}) {
  return createTestApp({ pages: createFakePages({ pages, ...overrides }) });
}

it('follows a redirect that a step throws', async () => {
  const reply = await request(appThat(() => redirect('/admin')))
    .get('/')
    .expect(303);
  expect(reply.headers.location).toBe('/admin');
});

it("shows the owner's page for an outcome", async () => {
  const reply = await request(appThat(() => forbidden()))
    .get('/')
    .expect(403);
  expect(reply.text).toBe('<h1>forbidden</h1>');
});

it("stands in for an owner's page that fails", async () => {
  const app = appThat(() => forbidden(), {
    renderError: async () => {
      throw new Error('canary');
    },
  });
  const reply = await request(app).get('/').expect(500);
  expect(reply.text).toContain('Application error:');
  expect(reply.text).not.toContain('canary');
});

describe('who asks for JSON', () => {
  it.each([
    ['application/json', true],
    ['application/problem+json, */*;q=0.1', true],
    ['text/html,application/json', false],
    ['*/*', false],
  ])('by Accept: %s, gets it: %s', async (accept, json) => {
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

  it('says the words that it was given, in JSON and to the page of the owner', async () => {
    const error = new HttpError(status, 'The sluice is closed.');
    expect(JSON.parse((await answer(error, 'application/json')).text)).toMatchObject({
      detail: 'The sluice is closed.',
    });
    expect((await answer(error, 'text/html')).body).toMatchObject({ status, message: 'The sluice is closed.' });
  });

  it("never says a library's words", async () => {
    const library = Object.assign(new Error('canary'), { status, expose: true, words: 'canary' });
    for (const accept of ['application/json', 'text/html']) {
      expect((await answer(library, accept)).text).not.toContain('canary');
    }
  });
});

it('leaves the words to the page of the owner where an HttpError was given none', () => {
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

it('does not pass on headers of the answer that failed', async () => {
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

it('cuts a reply that has begun, so that it cannot be taken for whole', async () => {
  const app = appThat((_req, res) => {
    res.write('half');
    throw new Error('boom');
  });
  await expect(request(app).get('/')).rejects.toThrow(/aborted|hang up/);
});
