import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { HttpError } from '../../../../src/server/engine/errors/http-error.ts';
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
