import { afterAll, beforeAll, expect, it } from 'vitest';
import { sendRaw } from '../../support/raw-http.ts';
import { SITE_HOST, startWholeSite, type WholeSite } from './whole-site.tsx';

let site: WholeSite;
beforeAll(async () => {
  site = await startWholeSite();
});
afterAll(() => site.close());

const MARK = 'mark-of-a-stranger.example';

/**
 * Headers that frameworks, platforms and proxies use internally, and that at least one of them has trusted from a
 * visitor. Headers that browsers send (`Purpose: prefetch`, the `Accept` of a background action, `traceparent`) are not
 * included.
 */
// The target of a request.
const INNER = list(`
X-Original-URL X-Rewrite-URL X-Original-URI X-Request-URI X-Request-URL X-Original-Path X-Forwarded-Path
X-Forwarded-Uri X-Envoy-Original-Path X-Rewritten-Path X-Replaced-Path X-Accel-Redirect X-Sendfile X-Reproxy-URL
Destination X-Override-URL X-Proxy-URL X-URL X-Matched-Path X-Invoke-Path X-Invoke-Query X-Invoke-Output
X-Invoke-Status X-Invoke-Error X-Astro-Path X-Sveltekit-Pathname X-Remix-Request-Path X-Nitro-Path X-Nuxt-Error`).flatMap(
  (name) => [`${name}: /private`, `${name}: /fail?a=${MARK}`],
);

const HOSTS = list(`
X-Forwarded-Host X-Forwarded-Server X-Host X-HTTP-Host-Override X-Original-Host X-Backend-Host X-Forwarded-Port
X-Forwarded-Prefix X-Forwarded-Proto X-Forwarded-Protocol X-Forwarded-Scheme X-Forwarded-Ssl X-Url-Scheme
Front-End-Https Forwarded X-Forwarded-By X-Forwarded X-Forwarded-For X-Real-IP X-Client-IP Client-IP True-Client-IP
CF-Connecting-IP X-Cluster-IP X-Azure-ClientIP Fastly-Client-IP X-ProxyUser-Ip X-Originating-IP X-Remote-IP
X-Remote-Addr X-Script-Name X-Base-Path X-Ingress-Path X-Remote-User Remote-User X-Forwarded-User X-Forwarded-Email
X-Auth-Proxy-Secret X-Forwarded-Groups X-Auth-Request-User X-WebAuth-User X-User X-User-Id X-Authenticated-User
X-Forwarded-Client-Cert X-SSL-Client-Verify X-Admin X-Role X-Tenant`).map((name) => `${name}: ${MARK}`);

const METHODS = list(`
X-HTTP-Method-Override X-HTTP-Method X-Method-Override X-Method X-Original-Method Method X-Forwarded-Method X-Action`).flatMap(
  (name) => [`${name}: DELETE`, `${name}: HEAD`],
);

const SWITCHES = list(`
X-Middleware-Subrequest-Id X-Middleware-Next X-Middleware-Skip X-Middleware-Prefetch X-Middleware-Invoke X-Next-Resume
X-Next-Data X-Nextjs-Data X-Nextjs-Html-Request-Id Next-Router-Prefetch Next-Resume RSC X-Prerender-Bypass
X-Sveltekit-Invalidated X-Nuxt-No-Ssr X-Nuxt-Render-Payload X-Up-Version X-Debug X-Debug-Token X-Internal X-Bypass
X-Cache-Bypass X-Purge X-Draft X-Esi`).map((name) => `${name}: 1`);

const FLAGS = `
X-Middleware-Subrequest: middleware:middleware:middleware:middleware:middleware
X-Middleware-Subrequest: src/middleware
X-Middleware-Rewrite: /private
X-Middleware-Override-Headers: host
X-Middleware-Request-Host: mark
X-Next-Cache-Tags: a
X-Next-Revalidated-Tags: a
X-Next-Revalidate-Tag-Token: a
Next-Action: x
Next-Router-State-Tree: []
Next-Router-Segment-Prefetch: /_tree
Next-Url: /private
RSC-Action-Id: x
X-Prerender-Revalidate: x
X-Now-Route-Matches: 1=private
X-Vercel-Forwarded-For: 1.2.3.4
X-Vercel-Sc-Headers: {"a":"b"}
X-React-Router-SPA-Mode: yes
X-React-Router-Prerender-Data: [{"_1":2},"form",{"_3":4},"data","mark"]
X-Remix-Response: yes
X-Remix-Reload-Document: true
X-Sveltekit-Action: true
X-Sveltekit-Prerender: true
X-Astro-Locals: {"user":"mark"}
X-Nitro-Prerender: /private
X-Tsr-Redirect: manual
X-Inertia: true
X-Inertia-Version: a
X-PJAX: true
HX-Request: true
HX-Target: x
Turbo-Frame: x
X-Requested-With: XMLHttpRequest
X-Internal-Request: true
X-Preview: true
X-Locale: mark
X-Build-Id: mark
X-Error-Digest: 7K3QM2XA-9F4W0R6B
X-Request-Id: mark-of-a-stranger
X-Correlation-Id: mark-of-a-stranger
X-Nonce: mark
X-CSP-Nonce: mark
Content-Security-Policy: default-src *
X-Robots-Tag: none
Surrogate-Capability: a="ESI/1.0"
X-Wap-Profile: http://mark.example/
Proxy: http://mark.example/
Connection: close, X-Forwarded-For, Cookie, Authorization
Keep-Alive: timeout=1
Proxy-Connection: keep-alive
TE: trailers, gzip
Trailer: Host
Max-Forwards: 0
Via: 1.1 mark
Pragma: akamai-x-get-cache-key
Cache-Control: only-if-cached, no-cache
Surrogate-Control: max-age=1
If-Modified-Since: Fri, 01 Jan 2038 00:00:00 GMT
Sec-Purpose: prefetch
Service-Worker: script
Service-Worker-Navigation-Preload: true
Save-Data: on
__proto__: mark
constructor: mark`
  .trim()
  .split('\n');

function list(names: string): string[] {
  return names.trim().split(/\s+/);
}

const ALL = [...INNER, ...HOSTS, ...METHODS, ...SWITCHES, ...FLAGS];

const ADDRESSES = ['/', '/static', '/private', '/_data/form', '/api/echo', '/desk', '/nothing', '/metrics'];
const FORM = 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n';

/** Requests every path over one connection, so that a truncated or shifted response also shows. */
async function askAll(header = ''): Promise<string[]> {
  const given = header === '' ? '' : `${header}\r\n`;
  const one = (ask: string, rest = '', body = '') =>
    `${ask} HTTP/1.1\r\nHost: ${SITE_HOST}\r\n${given}${rest}Connection: close\r\n\r\n${body}`;
  const requests = [
    ...ADDRESSES.map((path) => one(`GET ${path}`)),
    one('POST /form', FORM, 'a=1'),
    one('POST /api/echo', FORM, 'a=1'),
  ];
  const replies: string[] = [];
  for (const request of requests) replies.push(forget(await sendRaw(site.port, request, { patience: 10_000 })));
  return replies;
}

/** Removes the parts that differ in each response. */
function forget(reply: string): string {
  return reply
    .replace(/^(?:date|x-request-id): .*\r\n/gim, '')
    .replace(/nonce-[\w+/=-]+/g, 'nonce')
    .replace(/nonce="[^"]*"/g, 'nonce')
    .replace(/content="[0-9a-f]{32}-[0-9a-f]{16}[^"]*"/g, 'trace')
    .replace(/sentry-trace_id=[0-9a-f]{32}/g, 'trace');
}

it(`an internal header of other software has no effect and leaves no trace: ${ALL.length} headers`, async () => {
  expect(ALL.length).toBeGreaterThan(150);
  await askAll(); // renders the static page
  const plain = await askAll();
  expect(plain.map((reply) => Number(reply.split(' ')[1]))).toEqual([200, 200, 401, 200, 200, 401, 404, 401, 303, 415]);
  // Together, but each name once in a request, because a second one could hide the first.
  for (let rest = ALL; rest.length > 0; ) {
    const group = [...new Map(rest.map((header) => [header.split(':')[0], header])).values()].slice(0, 12);
    expect(await askAll(group.join('\r\n')), String(group)).toEqual(plain);
    rest = rest.filter((header) => !group.includes(header));
  }
  expect(await askAll()).toEqual(plain);
  expect(plain.join('')).not.toContain('mark');
}, 120_000);
