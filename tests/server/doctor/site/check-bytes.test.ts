import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../../src/server/doctor/site/ask.ts';
import {
  findAsset,
  judgeAssetAge,
  judgeAssetBytes,
  judgeCompression,
  judgePageCache,
  judgeRevalidation,
} from '../../../../src/server/doctor/site/check-bytes.ts';

function answer(change: Partial<Answer> = {}): Answer {
  const body = Buffer.from('<p>page</p>');
  return {
    status: 200,
    headers: {},
    fields: [],
    raw: body,
    body,
    arrivals: [],
    local: { address: '', port: 0 },
    remoteAddress: '',
    ...change,
  };
}

const packed = gzipSync('<p>page</p>');
const asGzip = { 'content-encoding': 'gzip' };

describe('compression', () => {
  it.each([
    ['is there', answer({ headers: asGzip, raw: packed }), 'ok'],
    ['is not there', answer(), 'warning'],
    ['is not said', answer({ raw: packed, body: packed }), 'wrong'],
    ['is there twice', answer({ headers: asGzip, raw: gzipSync(packed), body: packed }), 'wrong'],
    ['is said twice', answer({ headers: { 'content-encoding': 'gzip, gzip' } }), 'wrong'],
    ['is not what it says', answer({ headers: asGzip, body: undefined }), 'wrong'],
  ])('%s', (_name, page, mark) => expect(judgeCompression(page).mark).toBe(mark));
});

describe('a page out of a cache', () => {
  const page = (id: string, says?: string) =>
    answer({ headers: { 'x-request-id': id, ...(says !== undefined && { 'cache-control': says }) } });

  it('is known by the id of its request', () => {
    expect(judgePageCache([page('a'), page('b')]).mark).toBe('ok');
    expect(judgePageCache([page('a', 'private, no-cache'), page('a')])).toMatchObject({
      mark: 'wrong',
      advice: expect.stringContaining('private, no-cache'),
    });
    expect(judgePageCache([page('a', 'public, max-age=60'), page('a')]).mark).toBe('ok');
    expect(judgePageCache([answer(), answer()]).mark).toBe('unknown');
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
    expect(judgeAssetAge({ headers: says === undefined ? {} : { 'cache-control': says } }).mark).toBe(mark);
  });

  it('are asked for again by their ETag', () => {
    const first = answer({ headers: { etag: '"x"' } });
    expect(judgeRevalidation({ packed: first, again: answer({ status: 304 }) }).mark).toBe('ok');
    expect(judgeRevalidation({ packed: first, again: answer() }).mark).toBe('warning');
    expect(judgeRevalidation({ packed: answer(), again: answer({ status: 304 }) }).mark).toBe('warning');
  });

  it('are the same bytes in each coding', () => {
    expect(judgeAssetBytes({ plain: answer(), packed: answer({ headers: asGzip }) }).mark).toBe('ok');
    expect(judgeAssetBytes({ plain: answer(), packed: answer({ body: packed }) }).mark).toBe('wrong');
    expect(judgeAssetBytes({ plain: answer(), packed: answer({ body: undefined }) }).mark).toBe('wrong');
  });
});
