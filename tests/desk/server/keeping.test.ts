import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseReply, sendRaw } from '../../support/raw-http.ts';
import { SITE_HOST, startWholeSite, type WholeSite } from './whole-site.tsx';

let site: WholeSite;
beforeAll(async () => {
  site = await startWholeSite();
});
afterAll(() => site.close());

const USERS = ['user-ada-7f3a', 'user-bob-91c2'] as const;

async function ask(target: string, headers: readonly string[] = [], method = 'GET', body = '') {
  const head = [`${method} ${target} HTTP/1.1`, `Host: ${SITE_HOST}`, ...headers, 'Connection: close'].join('\r\n');
  const text = await sendRaw(site.port, `${head}\r\n\r\n${body}`, { patience: 40_000 });
  return { text, ...parseReply(text) };
}

/** Returns whether a shared cache can store the response. */
function isShared({ headers }: { readonly headers: Readonly<Record<string, string>> }): boolean {
  return !/\b(?:private|no-store)\b/.test(headers['cache-control'] ?? '');
}

describe('data of one visitor', () => {
  it('is never sent to another, however many requests are simultaneous, and is not cacheable', async () => {
    const targets = ['/me', '/_data/me', '/api/me', '/static', '/_data/static', '/', '/me?a=1', '/nothing', '/form'];
    const asked = Array.from({ length: 400 }, async (_, at) => {
      const [user, other] = at % 2 === 0 ? USERS : [USERS[1], USERS[0]];
      const target = targets[at % targets.length] ?? '';
      const reply = await ask(target, [`Cookie: user=${user}`, `Authorization: Bearer ${user}`]);
      expect(reply.text).not.toContain(other);
      if (/me/.test(target)) expect(reply.text).toContain(user);
      if (reply.text.includes(user)) expect(isShared(reply)).toBe(false);
    });
    await Promise.all(asked);
    for (const target of targets) expect((await ask(target)).text).not.toMatch(/user-/);
  });

  it.each([
    ...[
      '/me/x.css',
      '/me.css',
      '/me;x.js',
      '/me%2f..%2fa.css',
      '/me%00.css',
      '/me/..;/static',
      '/me?x.css',
      '/me#.css',
    ],
    ...[
      '/static/../me',
      '/static%2f..%2fme',
      '/assets/..%2fme',
      '/_data/me.css',
      '/_data/me/x.js',
      '/robots.txt/../me',
    ],
    ...['/api/me.css', '/api/me/x.css', '/api/me%00.css', '/me/', '/ME.css'],
  ])('is not sent for %s with headers that a shared cache would accept', async (target) => {
    const reply = await ask(target, [`Cookie: user=${USERS[0]}`]);
    if (reply.body.includes(USERS[0])) {
      expect(isShared(reply)).toBe(false);
      expect(target).toMatch(/^\/(?:api\/)?me[?#]/); // the same page with a query string
    }
    expect(reply.status).toBeLessThan(500);
  });
});

describe('a cached page', () => {
  const without = ({ text }: { readonly text: string }) => text.replace(/^(?:date|x-request-id): .*\r\n/gim, '');

  it('has the same bytes after any request to its URL', async () => {
    const clean = without(await ask('/static'));
    const mark = 'mark-of-a-stranger';
    const tries: readonly (readonly [target: string, headers?: readonly string[], method?: string, body?: string])[] = [
      ['/static', [`Cookie: a=${mark}`, `Authorization: Bearer ${mark}`, `User-Agent: ${mark}`, `Referer: ${mark}`]],
      ['/static', [`Accept: text/${mark}`, `Accept-Language: ${mark}`, 'Accept-Encoding: identity;q=0']],
      ['/static', [`X-Forwarded-Host: ${mark}`, `X-Original-URL: /${mark}`, `Forwarded: host=${mark}`]],
      ['/static', ['Content-Length: 18'], 'GET', mark],
      ['/static', [`X: ${'a'.repeat(20_000)}`]],
      ['/static', ['Range: bytes=0-1', 'If-Match: "x"', 'If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT']],
      ['/static', [], 'HEAD'],
      ['/static', [], 'DELETE'],
      ['/static', ['Content-Type: application/x-www-form-urlencoded', 'Content-Length: 20'], 'POST', `a=${mark}`],
      [`/static?${mark}`],
      [`/static?a=${mark}&a=${mark}`],
      ['/static;a'],
      ['/Static'],
      ['/%73tatic'],
      [`http://${SITE_HOST}/static`],
      [`//${SITE_HOST}/static`],
      ['/_data/static', [`Cookie: a=${mark}`]],
    ];
    for (const [target, headers, method, body] of tries) {
      const reply = await ask(target, headers, method, body);
      if (isShared(reply)) expect(reply.text, target).not.toContain(mark);
      if (reply.status >= 400) expect(reply.headers['cache-control'], target).toBe('no-store');
      expect(without(await ask('/static')), target).toBe(clean);
    }
  });
});
