import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import request, { type Test } from 'supertest';
import { afterAll, describe, expect, it } from 'vitest';
import { indexPublicFiles } from '../../../../src/server/engine/assets/public-files.ts';
import { createTestApp, startTestServer } from '../../../support/app.ts';
import { askRaw } from '../../../support/raw-http.ts';

const TEXT = 'export const a = 1;\n'.repeat(100);
const LARGE = Buffer.alloc(600_000, 'x');
const dist = mkdtempSync(join(tmpdir(), 'assets-'));
const folder = join(dist, 'client');
mkdirSync(join(folder, 'assets'), { recursive: true });
for (const [name, bytes] of Object.entries({
  'assets/main-X7K2.js': TEXT,
  'assets/main-X7K2.js.gz': gzipSync(TEXT),
  'assets/main-X7K2.js.br': 'br',
  'assets/main-X7K2.js.zst': 'zstd',
  'assets/main-X7K2.js.map': '{}',
  'assets/large-1.mp4': LARGE,
  'assets/.hidden.js': 'x',
  'assets/unknown.canary': 'x',
  'favicon.svg': '<svg/>',
  'robots.txt': 'User-agent: *\n',
})) {
  writeFileSync(join(folder, name), bytes);
}
const app = createTestApp({ files: indexPublicFiles(dist) });
afterAll(() => rmSync(dist, { recursive: true }));

function ask(path: string, headers: Record<string, string> = {}): Test {
  return request(app)
    .get(path)
    .set({ 'Accept-Encoding': 'identity', ...headers });
}

describe('an asset', () => {
  it('is immutable, and has a content type and a strong ETag', async () => {
    const reply = await ask('/assets/main-X7K2.js').expect(200);
    expect(reply.text).toBe(TEXT);
    expect(reply.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      vary: 'Accept-Encoding',
      'accept-ranges': 'bytes',
    });
    expect(reply.headers.etag).toMatch(/^"[\w-]{22}"$/);
  });

  it.each([
    ['gzip', 'gzip'],
    ['br, gzip', 'br'],
    ['gzip, br;q=0', 'gzip'],
    ['*', 'br'],
    ['zstd', 'zstd'],
    ['*;q=0', undefined],
    ['nonsense;;q=,', undefined],
    ['', undefined],
  ])('is sent for Accept-Encoding "%s" as %s', async (accept, encoding) => {
    const reply = await request(app).head('/assets/main-X7K2.js').set('Accept-Encoding', accept).expect(200);
    expect(reply.headers['content-encoding']).toBe(encoding);
  });

  it('has a different ETag for each encoding, and answers 304 to each', async () => {
    const tags = new Set<string>();
    for (const encoding of ['identity', 'gzip', 'br', 'zstd']) {
      const { headers } = await request(app).head('/assets/main-X7K2.js').set('Accept-Encoding', encoding);
      tags.add(String(headers.etag));
      const again = await ask('/assets/main-X7K2.js', {
        'Accept-Encoding': encoding,
        'If-None-Match': `"x", W/${headers.etag}`,
      }).expect(304);
      expect(again.headers['content-length']).toBeUndefined();
    }
    expect(tags.size).toBe(4);
    await ask('/assets/main-X7K2.js', { 'If-None-Match': '"x"' }).expect(200);
  });

  it('answers HEAD with the same headers and no body', async () => {
    const head = await request(app).head('/assets/main-X7K2.js').set('Accept-Encoding', 'identity').expect(200);
    expect(head.headers['content-length']).toBe(String(TEXT.length));
  });

  it.each([
    ['bytes=0-9', 206, 'bytes 0-9/600000', 10],
    ['bytes=599990-', 206, 'bytes 599990-599999/600000', 10],
    ['bytes=-5', 206, 'bytes 599995-599999/600000', 5],
    ['bytes=5-999999999', 206, 'bytes 5-599999/600000', 599_995],
    ['bytes=600000-', 416, 'bytes */600000', undefined],
    ['bytes=-0', 416, 'bytes */600000', undefined],
    ['bytes=9-5', 200, undefined, 600_000],
    [`bytes=${'0-1,'.repeat(1000)}0-1`, 200, undefined, 600_000],
    ['lines=1-2', 200, undefined, 600_000],
    ['bytes=-', 200, undefined, 600_000],
  ])('answers the range %s of a large file with %i', async (range, status, contentRange, length) => {
    const reply = await ask('/assets/large-1.mp4', { Range: range }).expect(status);
    expect(reply.headers['content-range']).toBe(contentRange);
    if (length !== undefined) expect(reply.body).toHaveLength(length);
  });

  it('is sent completely if If-Range names another version', async () => {
    const { etag } = (await ask('/assets/large-1.mp4')).headers;
    await ask('/assets/large-1.mp4', { Range: 'bytes=0-1', 'If-Range': '"x"' }).expect(200);
    await ask('/assets/large-1.mp4', { Range: 'bytes=0-1', 'If-Range': String(etag) }).expect(206);
  });

  it.each(['post', 'put', 'delete'] as const)('answers 405 to %s', async (method) => {
    expect((await request(app)[method]('/assets/main-X7K2.js').expect(405)).headers.allow).toBe('GET, HEAD');
  });
});

describe('a path without a file', () => {
  it.each([
    '/assets/',
    '/assets/main-X7K2.js.map',
    '/assets/main-X7K2.js.br',
    '/assets/.hidden.js',
    '/assets/unknown.canary',
    '/assets/MAIN-X7K2.js',
    '/assets/main-X7K2.js/',
    '/assets/__proto__',
    '/assets/constructor',
  ])('is answered with 404 in plain text: %s', async (path) => {
    const reply = await ask(path).expect(404);
    expect(reply.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(reply.headers['cache-control']).toBe('no-store');
  });

  it('cannot be reached by a URL with detours', async () => {
    const server = await startTestServer({ files: indexPublicFiles(dist) });
    for (const path of [
      '/assets/../package.json',
      '/assets/..%2fpackage.json',
      '/assets/%2e%2e/x',
      '/assets//etc/passwd',
      '/assets/..\\x',
    ]) {
      expect([path, (await askRaw(server.port, `GET ${path} HTTP/1.1`)).status]).toEqual([path, 400]);
    }
    server.close();
  });
});

it('serves the other public files with a short max-age', async () => {
  for (const [path, type] of [
    ['/favicon.svg', 'image/svg+xml'],
    ['/robots.txt', 'text/plain; charset=utf-8'],
  ] as const) {
    const reply = await ask(path).expect(200);
    expect(reply.headers).toMatchObject({ 'cache-control': 'public, max-age=300', 'content-type': type });
  }
});
