import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../../src/server/doctor/site/ask.ts';
import { type AssetAnswers, BYTES_CHECKS, findAsset } from '../../../../src/server/doctor/site/check-bytes.ts';

function answer(change: Partial<Answer> = {}): Answer {
  const body = Buffer.from('<p>page</p>');
  return {
    status: 200,
    headers: {},
    distinct: {},
    body,
    arrivals: [],
    local: { address: '', port: 0 },
    remoteAddress: '',
    ...change,
  };
}

const ofPages = (one: Answer, other = one) => ({ pages: [one, other] as const, asset: undefined });
const ofAsset = (change: Partial<AssetAnswers>) => ({
  ...ofPages(answer()),
  asset: { plain: answer(), packed: answer(), again: answer(), ...change },
});

const packed = gzipSync('<p>page</p>');
const asGzip = { 'content-encoding': 'gzip' };

describe('compression', () => {
  it.each([
    ['is applied', answer({ headers: asGzip }), 'ok'],
    ['is missing', answer(), 'warning'],
    ['is not declared', answer({ body: packed }), 'wrong'],
    ['is applied twice', answer({ headers: asGzip, body: packed }), 'wrong'],
    ['is declared twice', answer({ headers: { 'content-encoding': 'gzip, gzip' } }), 'wrong'],
    ['differs from the declared coding', answer({ headers: asGzip, body: undefined }), 'wrong'],
  ])('%s', (_name, page, mark) => expect(BYTES_CHECKS.Compression(ofPages(page)).mark).toBe(mark));
});

describe('a cached page', () => {
  const page = (id: string, says?: string) =>
    answer({ headers: { 'x-request-id': id, ...(says !== undefined && { 'cache-control': says }) } });

  it('is recognized by its request id', () => {
    expect(BYTES_CHECKS['Page cache'](ofPages(page('a'), page('b'))).mark).toBe('ok');
    expect(BYTES_CHECKS['Page cache'](ofPages(page('a', 'private, no-cache'), page('a')))).toMatchObject({
      mark: 'wrong',
      advice: expect.stringContaining('private, no-cache'),
    });
    expect(BYTES_CHECKS['Page cache'](ofPages(page('a', 'public, max-age=60'), page('a'))).mark).toBe('ok');
    expect(BYTES_CHECKS['Page cache'](ofPages(answer())).mark).toBe('unknown');
  });
});

describe('assets', () => {
  it('are found in a page', () => {
    expect(findAsset('<link href="/x.css"><script src="/assets/main-1A.js" type="module">')).toBe('/assets/main-1A.js');
    expect(findAsset('<p>/assets/</p>')).toBeUndefined();
  });

  it.each([
    ['public, max-age=31536000, immutable', 'ok'],
    ['max-age=3600', 'warning'],
    ['max-age=31536000', 'warning'],
    ['no-cache, max-age=31536000, immutable', 'warning'],
    [undefined, 'warning'],
  ])('with Cache-Control %s', (says, mark) => {
    const headers = says === undefined ? {} : { 'cache-control': says };
    expect(BYTES_CHECKS['Asset cache'](ofAsset({ packed: answer({ headers }) }))?.mark).toBe(mark);
  });

  it('are checked for 304 with their ETag', () => {
    const first = answer({ headers: { etag: '"x"' } });
    expect(BYTES_CHECKS.ETag(ofAsset({ packed: first, again: answer({ status: 304 }) }))?.mark).toBe('ok');
    expect(BYTES_CHECKS.ETag(ofAsset({ packed: first }))?.mark).toBe('warning');
    expect(BYTES_CHECKS.ETag(ofAsset({ again: answer({ status: 304 }) }))?.mark).toBe('warning');
  });

  it('must have the same bytes in each coding', () => {
    expect(BYTES_CHECKS['Asset bytes'](ofAsset({ packed: answer({ headers: asGzip }) }))?.mark).toBe('ok');
    expect(BYTES_CHECKS['Asset bytes'](ofAsset({ packed: answer({ body: packed }) }))?.mark).toBe('wrong');
    expect(BYTES_CHECKS['Asset bytes'](ofAsset({ packed: answer({ body: undefined }) }))?.mark).toBe('wrong');
  });
});
