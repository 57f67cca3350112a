import express, { type ErrorRequestHandler, type RequestHandler, Router } from 'express';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { seenAsPage, toPageUrl } from '../../../src/server/request/page-url.ts';
import { toDataUrl } from '../../../src/shared/wire/protocol.ts';

it.each([
  ['', '/', '/_data/'],
  ['', '/?page=2', '/_data/?page=2'],
  ['', '/orders/7?page=2', '/_data/orders/7?page=2'],
  ['/admin', '/admin', '/admin/_data'],
  ['/admin', '/admin?state=all', '/admin/_data?state=all'],
])('below "%s" the data of %s is at %s', (base, page, data) => {
  expect(toDataUrl(page, base)).toBe(data);
  expect(toPageUrl(data, base)).toBe(page);
});

it.each([
  ['', '/orders'],
  ['', '/_database'],
  ['', '/admin/_data'],
  ['/admin', '/admin/7K3QM2XA'],
  ['/admin', '/_data/admin'],
])('below "%s" %s is not page data', (base, url) => {
  expect(toPageUrl(url, base)).toBeUndefined();
});

/** An app with one step and a handler that responds with the URL that it sees. */
function appOf(step: RequestHandler) {
  const app = express();
  app.use(seenAsPage(step));
  app.use((req, res) => void res.send(req.url));
  app.use(((error, _req, res, _next) => void res.status(500).send(error.message)) as ErrorRequestHandler);
  return app;
}

describe('a step that sees page URLs', () => {
  it.each([
    ['/_data/orders', '/orders'],
    ['/_data/orders?page=2', '/orders?page=2'],
    ['/_data/', '/'],
    ['/_data', '/'],
    ['/orders?page=2', '/orders?page=2'],
    ['/_database', '/_database'],
    ['/', '/'],
  ])('sees %s as %s, and later handlers see the original URL', async (asked, seen) => {
    const urls: string[] = [];
    const app = appOf((req, _res, next) => {
      urls.push(req.url);
      next();
    });
    const reply = await request(app).get(asked).expect(200);
    expect([urls, reply.text]).toEqual([[seen], asked]);
  });

  it('at a fixed path also runs before the page data of that path', async () => {
    const gate = Router();
    gate.all('/', (_req, res) => void res.status(403).send('gate'));
    gate.use('/admin', (_req, res) => void res.status(403).send('gate'));
    const app = appOf(gate);
    for (const path of ['/', '/_data', '/_data/', '/_data?a=1', '/admin', '/_data/admin', '/_data/admin/x?a=1']) {
      expect([path, (await request(app).get(path)).status]).toEqual([path, 403]);
    }
    await request(app).get('/_data/orders').expect(200, '/_data/orders');
  });
});
