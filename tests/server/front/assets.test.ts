import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import request, { type Test } from 'supertest';
import { afterAll, describe, expect, it } from 'vitest';
import { assetLoaders } from '../../../build/styles.mjs';
import { indexPublicFiles } from '../../../src/server/front/public-files.ts';
import { createTestApp, spyOnLog, startTestServer } from '../../support/app.ts';
import { createFolder } from '../../support/folder.ts';
import { askRaw } from '../../support/raw-http.ts';

const TEXT = 'export const a = 1;\n'.repeat(100);
const ASSET = '/assets/main-X7K2.js';
const LARGE = '/assets/large-1.mp4';
const ENDINGS = Object.keys(assetLoaders);
const dist = createFolder(afterAll);
for (const name of ['assets', '.well-known', '.hidden']) mkdirSync(join(dist, 'client', name), { recursive: true });
for (const [name, bytes] of Object.entries({
  [ASSET]: TEXT,
  [`${ASSET}.gz`]: gzipSync(TEXT),
  [`${ASSET}.br`]: 'br',
  [`${ASSET}.zst`]: 'zstd',
  [`${ASSET}.map`]: '{}',
  [LARGE]: Buffer.alloc(600_000, 'x'),
  '/assets/.hidden.js': 'x',
  '/assets/unknown.canary': 'x',
  '/favicon.svg': '<svg/>',
  '/robots.txt': 'User-agent: *\n',
  '/sw.js': 'x',
  '/sw.mjs': 'x',
  '/songs.canary': 'x',
  '/sitemap.xml.gz': 'x',
  '/google1.html': 'google-site-verification: google1.html',
  '/.well-known/security.txt': 'Contact: mailto:security@example.com',
  '/.well-known/apple-app-site-association': '{}',
  '/.well-known/.hidden.txt': 'x',
  '/.hidden/security.txt': 'x',
  ...Object.fromEntries(ENDINGS.map((ending) => [`/assets/file${ending}`, 'x'])),
})) {
  writeFileSync(join(dist, 'client', name), bytes);
}
const SCRIPT_POLICY = "default-src 'none'; script-src 'self'";
const app = createTestApp({ files: indexPublicFiles(dist), scriptPolicy: SCRIPT_POLICY });

const ask = (path: string, headers: Record<string, string> = {}, method: 'get' | 'head' = 'get'): Test =>
  request(app)
    [method](path)
    .set({ 'Accept-Encoding': 'identity', ...headers });

describe('an asset', () => {
  it('is immutable, and has a content type and a strong ETag', async () => {
    const { text, headers } = await ask(ASSET).expect(200);
    expect(text).toBe(TEXT);
    const expected = {
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      vary: 'Accept-Encoding',
      'accept-ranges': 'bytes',
      etag: expect.stringMatching(/^"main-X7K2\.js-\d+"$/),
    };
    expect(headers).toMatchObject(expected);
    const head = await ask(ASSET, {}, 'head').expect(200);
    expect(head.headers).toMatchObject({ ...expected, 'content-length': String(TEXT.length) });
  });

  it.each(ENDINGS)('has a content type if a source can refer to it: %s', async (ending) => {
    const { headers } = await ask(`/assets/file${ending}`).expect(200);
    expect(headers['content-type']).toMatch(/^(?:image|font)\/|^application\/vnd\.ms-fontobject$/);
  });

  it.each([
    [ASSET, 'same-origin'],
    ['/favicon.svg', 'cross-origin'],
  ])('%s can be embedded by pages of: %s', async (path, policy) => {
    expect((await ask(path).expect(200)).headers['cross-origin-resource-policy']).toBe(policy);
  });

  it.each([ASSET, '/sw.js', '/sw.mjs'])('is a script with a policy that a worker inherits: %s', async (path) => {
    const { headers } = await ask(path).expect(200, /./);
    expect(headers).toMatchObject({
      'content-security-policy': SCRIPT_POLICY,
      'content-type': 'text/javascript; charset=utf-8',
    });
    // A browser replaces the headers in its cache by these.
    const known = await ask(path, { 'If-None-Match': String(headers.etag) }).expect(304);
    expect(known.headers['content-security-policy']).toBe(SCRIPT_POLICY);
    expect((await ask('/favicon.svg').expect(200)).headers['content-security-policy']).not.toBe(SCRIPT_POLICY);
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
    const { headers } = await ask(ASSET, { 'Accept-Encoding': accept }, 'head').expect(200);
    expect(headers['content-encoding']).toBe(encoding);
  });

  it('has a different ETag for each encoding, and answers 304 to each', async () => {
    const tags = new Set<unknown>();
    for (const encoding of ['identity', 'gzip', 'br', 'zstd']) {
      const { etag } = (await ask(ASSET, { 'Accept-Encoding': encoding }, 'head')).headers;
      tags.add(etag);
      const known = { 'Accept-Encoding': encoding, 'If-None-Match': `"x", W/${etag}` };
      expect((await ask(ASSET, known).expect(304)).headers['content-length']).toBeUndefined();
    }
    expect(tags.size).toBe(4);
    await ask(ASSET, { 'If-None-Match': '"x"' }).expect(200);
  });

  it.each<[range: string, status: number, sent: string | undefined, length?: number]>([
    ['bytes=0-9', 206, 'bytes 0-9/600000', 10],
    ['bytes=599990-', 206, 'bytes 599990-599999/600000', 10],
    ['bytes=-5', 206, 'bytes 599995-599999/600000', 5],
    ['bytes=5-999999999', 206, 'bytes 5-599999/600000', 599_995],
    ['bytes=600000-', 416, 'bytes */600000'],
    ['bytes=-0', 416, 'bytes */600000'],
    ...['bytes=9-5', `bytes=${'0-1,'.repeat(1000)}0-1`, 'lines=1-2', 'bytes=-'].map(
      (range): [string, number, undefined, number] => [range, 200, undefined, 600_000],
    ),
  ])('answers the range %s of a large file with %i', async (range, status, sent, length) => {
    const { headers, body } = await ask(LARGE, { Range: range }).expect(status);
    expect(headers['content-range']).toBe(sent);
    if (length !== undefined) expect(body).toHaveLength(length);
    const head = await ask(LARGE, { Range: range }, 'head').expect(200);
    expect(head.headers['content-length']).toBe('600000');
  });

  it('is sent completely if If-Range names another version', async () => {
    const { etag = '' } = (await ask(LARGE)).headers;
    await ask(LARGE, { Range: 'bytes=0-1', 'If-Range': '"x"' }).expect(200);
    await ask(LARGE, { Range: 'bytes=0-1', 'If-Range': etag }).expect(206);
  });

  it.each(['post', 'put', 'delete'] as const)('answers 405 to %s', async (method) => {
    expect((await request(app)[method](ASSET).expect(405)).headers.allow).toBe('GET, HEAD');
  });
});

it.each([
  ...[
    '/assets/',
    `${ASSET}.map`,
    `${ASSET}.br`,
    '/assets/.hidden.js',
    '/.well-known/.hidden.txt',
    '/assets/unknown.canary',
    ASSET.toUpperCase(),
  ],
  ...['/assets/MAIN-X7K2.js', `${ASSET}/`, '/assets/__proto__', '/assets/constructor'],
])('a path without a file is answered with 404: %s', async (path) => {
  const { headers } = await ask(path).expect(404);
  expect(headers['cache-control']).toBe('no-store');
  if (path.startsWith('/assets')) expect(headers['content-type']).toBe('text/plain; charset=utf-8');
});

it.each(['/../package.json', '/..%2fpackage.json', '/%2e%2e/x', '//etc/passwd', '/..\\x'])(
  'no file can be reached by a URL with detours: %s',
  async (path) => {
    const server = await startTestServer({ files: indexPublicFiles(dist) });
    expect((await askRaw(server.port, `GET /assets${path} HTTP/1.1`)).status).toBe(400);
  },
);

it.each([
  ['/favicon.svg', 'image/svg+xml'],
  ['/robots.txt', 'text/plain; charset=utf-8'],
  ['/google1.html', 'text/html; charset=utf-8'],
  ['/.well-known/security.txt', 'text/plain; charset=utf-8'],
  ['/.well-known/apple-app-site-association', 'application/json'],
])('serves %s with a short max-age', async (path, type) => {
  const policy = expect.stringContaining("default-src 'none'"); // no script runs in an HTML file
  const expected = { 'cache-control': 'public, max-age=300', 'content-type': type, 'content-security-policy': policy };
  expect((await ask(path).expect(200)).headers).toMatchObject(expected);
});

it('hidden files are not served, and other files of unknown type are named in the log', async () => {
  await ask('/.hidden/security.txt').expect(404);
  const { log, lines } = spyOnLog();
  indexPublicFiles(dist, log);
  expect(lines.map(({ msg }) => msg).sort()).toEqual([
    'src/client/public/assets/unknown.canary is not served, because its type is unknown. Serve it with a route.',
    'src/client/public/sitemap.xml.gz is not served, because its type is unknown. Serve it with a route.',
    'src/client/public/songs.canary is not served, because its type is unknown. Serve it with a route.',
  ]);
});
