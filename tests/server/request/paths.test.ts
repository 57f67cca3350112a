import express, { type RequestHandler } from 'express';
import fc from 'fast-check';
import request from 'supertest';
import { expect, it } from 'vitest';
import { seenAsPage, spellPath, toPageUrl } from '../../../src/server/request/paths.ts';
import { toDataUrl } from '../../../src/shared/wire/protocol.ts';

const PIECES =
  '/ // . .. %2e %2E %2f %5c \\ ; %00 %0a %7f %25 % %zz %u0041 admin %61dmin Admin %C3%A9 %c3%a9 %c0%af %ff';
const piece = fc.oneof(
  fc.constantFrom(...PIECES.split(' ')),
  fc.constantFrom('%e2%80%a8', '@', ':', '|', '~', '%7E', ' ', '\t', '\x80', '#'),
  fc.string({ unit: 'binary-ascii', maxLength: 4 }),
);
/** Paths without a query string, which is tested elsewhere. */
const path = fc.array(piece, { maxLength: 8 }).map((pieces) => `/${pieces.join('').replaceAll('?', '')}`);

it('the normal form of a path is read the same way by every component, and as browsers read the path', () => {
  fc.assert(
    fc.property(path, (raw) => {
      const spelling = spellPath(raw);
      if ('refusal' in spelling) return;
      const read = (text: string) => new URL(`http://site.example${text}`).pathname;
      expect(spellPath(spelling.path)).toEqual(spelling);
      expect(read(spelling.path)).toBe(spelling.path);
      expect(spelling.path).toMatch(/^\/[\x21-\x7e]*$/);
      const decoded = decodeURIComponent(spelling.path);
      expect(decoded.split('/')).toHaveLength(spelling.path.split('/').length);
      expect(decoded).not.toMatch(/\/\/|\\|\p{Cc}|\/\.{1,2}(?:\/|$)/u);
      expect(decoded).toBe(decodeURIComponent(read(raw)));
    }),
    { numRuns: 5000 },
  );
});

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

it.each([
  ['/_data/orders', '/orders'],
  ['/_data/orders?page=2', '/orders?page=2'],
  ['/_data/', '/'],
  ['/_data', '/'],
  ['/orders?page=2', '/orders?page=2'],
  ['/_database', '/_database'],
  ['/', '/'],
])('a step that sees page URLs sees %s as %s, and later handlers see the original URL', async (asked, seen) => {
  const urls: string[] = [];
  const note: RequestHandler = (req, _res, next) => next(void urls.push(req.url, req.originalUrl));
  const app = express().use(seenAsPage(note), (req, res) => void res.send(req.originalUrl && req.url));
  await request(app).get(asked).expect(200, asked);
  expect(urls).toEqual([seen, seen]);
});
