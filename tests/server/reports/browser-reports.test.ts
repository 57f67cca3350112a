import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeFakeDigest, startTunnelSite, type TunnelSite } from '../../support/tunnel-site.ts';

let site: TunnelSite;

beforeEach(async () => {
  site = await startTunnelSite();
});
afterEach(() => site.close());

async function post(body: unknown, type = 'application/reports+json', headers: object = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const sent = { 'Content-Type': type, ...headers };
  return (await fetch(`${site.origin}/_report/browser`, { method: 'POST', body: text, headers: sent })).status;
}

const report = (type: string, body: object, more: object = {}) => ({
  ...{ type, age: 10, url: `${site.origin}/orders/7?token=hushToken`, user_agent: 'forged', body, ...more },
});

const violation = (more: object = {}) =>
  report('csp-violation', {
    ...{ effectiveDirective: 'img-src', blockedURL: 'https://evil.example/a.png?hushQuery', disposition: 'enforce' },
    ...more,
  });

const SINK = { effectiveDirective: 'require-trusted-types-for', blockedURL: 'trusted-types-sink' };

const ignored = (reason: string) => site.counts.get(`spillway_reports_ignored_total{reason=${reason}}`) ?? 0;

it.each([
  ['a script of a build', 'SITE/assets/a-ABCDEFGH.js', 'client/assets/a-ABCDEFGH.js'],
  ['another script of this site', 'SITE/v2.1/tag.js?id=7#x', 'SITE/*/tag.js'],
  ['a page', 'SITE/orders/7', undefined],
  ['something that is not a URL', 'https://[', undefined],
])('reports about Trusted Types are grouped by their source: %s', async (_, source, file) => {
  const asked: (string | undefined)[] = [];
  site.close();
  site = await startTunnelSite({
    makeDigest(input) {
      asked.push(input.errors[0]?.frames[0]?.file);
      return makeFakeDigest(input);
    },
  });
  const sourceFile = source?.replace('SITE', site.origin);
  expect(await post([violation({ ...SINK, sourceFile })])).toBe(204);
  expect(asked).toEqual([file?.replace('SITE', site.origin)]);
  expect(site.failures).toMatchObject([{ kind: 'csp', errors: [] }]);
});

describe('reports that create incidents', () => {
  it.each([
    ['HTMLScriptElement text|{"@a";alert(1)}', {}],
    ['HTMLScriptElement text|[{"@context":1},alert(1)]', {}],
    ['Element innerHTML|{"@<img src=x onerror=alert(1)>', {}],
    ['Worker constructor|data:,alert(1)', {}],
    ['Worker constructor|\u0000 d\tata:,alert(1)', {}],
    [`SharedWorker constructor|${' '.repeat(40)}`, {}],
    ['ServiceWorkerContainer register|BLOB:https://shop.example/1', {}],
    ['Worker constructor|/x{}', { effectiveDirective: 'style-src-elem', blockedURL: 'inline' }],
  ])('are violations that only begin as harmless ones do: %j', async (sample, more) => {
    expect(await post(violation({ ...SINK, sample, ...more }))).toBe(204);
    expect(site.failures).toMatchObject([{ kind: 'csp' }]);
  });

  it('are CSP violations, grouped by directive and blocked host, and scrubbed', async () => {
    const place = { sourceFile: `${site.origin}/assets/a.js`, lineNumber: 3, columnNumber: 4 };
    expect(await post([violation({ ...place, sample: 'x hushSample' })])).toBe(204);
    const facts = { directive: 'img-src', blocked: 'evil.example' };
    expect(site.failures).toMatchObject([
      {
        ...{ kind: 'csp', side: 'browser', origin: 'browser', errors: [], title: `csp: ${JSON.stringify(facts)}` },
        request: { url: `${site.origin}/orders/7?token=[redacted]` },
        extra: { ...facts, line: 3, column: 4, sample: 'x [redacted]', disposition: 'enforce' },
      },
    ]);
    expect(JSON.stringify(site.failures)).not.toMatch(/hush|forged/);
  });

  it('are CSP violations in the format of report-uri', async () => {
    const old = {
      ...{ 'document-uri': `${site.origin}/`, 'violated-directive': "script-src-elem 'self'" },
      ...{ 'blocked-uri': 'inline', 'script-sample': 'alert(1)' },
    };
    expect(await post({ 'csp-report': old }, 'application/csp-report')).toBe(204);
    expect(site.failures).toMatchObject([
      { kind: 'csp', extra: { directive: 'script-src-elem', blocked: 'inline', sample: 'alert(1)' } },
    ]);
  });

  it.each([
    ['crash', { reason: 'oom' }, { reason: 'oom' }],
    ['crash', { reason: 'made up' }, { reason: 'unknown' }],
    ['deprecation', { id: 'Storage', message: 'x', anticipatedRemoval: '2027-01-01' }, { id: 'Storage' }],
    ['intervention', { id: 'NavigatorVibrate', message: 'Blocked.' }, { id: 'NavigatorVibrate' }],
  ])('are of the type %s with %o, also as a single report', async (kind, body, facts) => {
    expect(await post(report(kind, body), 'application/json; charset=utf-8')).toBe(204);
    expect(site.failures).toMatchObject([{ kind, title: `${kind}: ${JSON.stringify(facts)}` }]);
  });
});

it('reports that create incidents also reach an upstream, and are accepted if it fails', async () => {
  site.close();
  site = await startTunnelSite({ upstreamDsn: 'https://abc123@o1.ingest.example/7' });
  await post([violation()]);
  const [{ id, digest } = {}] = site.failures;
  expect(site.forwarded).toMatchObject([[{}, { event_id: id, level: 'warning', fingerprint: [digest] }]]);
  site.close();
  const report = () => expect.unreachable();
  site = await startTunnelSite({ upstream: { dsn: '', environment: '', report, send: report } });
  expect(await post([violation()])).toBe(204);
});

describe('reports that are dropped and counted', () => {
  it('exceed one a minute for each incident, or 30 in total', async () => {
    await post(Array.from({ length: 20 }, () => violation()));
    expect(site.failures).toHaveLength(1);
    await post(Array.from({ length: 90 }, (_, index) => violation({ blockedURL: `https://h${index}.example/` })));
    expect(site.failures.length).toBeLessThanOrEqual(31);
    expect(site.failures.length).toBeGreaterThan(25);
    expect(ignored('thinned')).toBe(110 - site.failures.length);
  });

  it('follow the hundredth in a body', async () => {
    await post(Array.from({ length: 250 }, () => report('network-error', {})));
    expect([ignored('network-error'), ignored('too-many')]).toEqual([100, 150]);
  });

  const schemes = ['chrome-extension://abc/a.js', 'safari-extension', 'ms-browser-extension:', 'about', 'resource://x'];
  const pages = [
    'https://evil.example/',
    'about:srcdoc',
    '',
    'x',
    null,
    7,
    'ORIGIN.evil.example/',
    'http://127.0.0.1/',
  ];
  const violated = (effectiveDirective: unknown, blockedURL: unknown) => ({
    type: 'csp-violation',
    body: { effectiveDirective, blockedURL },
  });
  const sinkViolation = (sample: string) => violation({ ...SINK, sample });
  it.each([
    ['block browser extensions', 'extension', () => schemes.map((blockedURL) => violation({ blockedURL }))],
    ['come from browser extensions', 'extension', () => schemes.map((sourceFile) => violation({ sourceFile }))],
    [
      'are about Trusted Types in scripts of other hosts',
      'other-host',
      () => [
        violation({
          effectiveDirective: 'trusted-types',
          blockedURL: 'trusted-types-policy',
          sourceFile: 'https://tags.example/tag.js',
        }),
      ],
    ],
    [
      'are about a script that React makes and that never runs, or about a worker of this site',
      'harmless-sink',
      () =>
        [
          'Element innerHTML|<script></script>',
          'Element innerHTML|{"@context":"https://schema.org","@type"',
          'Element innerHTML|[\n  {\n    "@type": "Product",',
          'HTMLScriptElement textContent|{"@graph":[{"@type":"Product"',
          'ServiceWorkerContainer register|/sw.js',
          'Worker constructor|https://shop.example/assets/resize-X7',
          'SharedWorker constructor|assets/hub.js',
        ].map(sinkViolation),
    ],
    ['have an unknown type', 'other-type', () => ['coep', 'x'].map((type) => report(type, {}))],
    [
      'are about pages of other sites',
      'foreign-page',
      () => pages.map((url) => report('crash', {}, { url: String(url).replace('ORIGIN', site.origin) })),
    ],
    [
      'are malformed',
      'malformed',
      () => [
        ...[null, 1, '"x"', true, [[]], [null], {}, { type: 'csp-violation', body: 1 }, { type: ['crash'], body: {} }],
        ...[{ 'csp-report': null }, { 'csp-report': {} }],
        ...[violated('img_src', 'inline'), violated({ toString: 1 }, 'inline'), violated('__proto__', undefined)],
        ...[violated('img-src', 7), violated('img-src', '//['), violated('img-src', 'x'.repeat(9000))],
        ...[undefined, 7, 'a b\r\nc', 'x'.repeat(102)].map((id) => ({ type: 'deprecation', body: { id } })),
      ],
    ],
  ])('%s', async (_what, reason, list) => {
    const bodies = list();
    for (const body of bodies) expect(await post(body)).toBe(204);
    expect([site.failures, site.faults, ignored(reason)]).toEqual([[], [], bodies.length]);
  });
});

it.each<[what: string, body: string, type: string, status: number, headers?: object]>([
  ['invalid JSON', '{', 'application/reports+json', 400],
  ['wide JSON', `[${'0,'.repeat(60_000)}0]`, 'application/reports+json', 413],
  ['other JSON', '[]', 'application/ld+json', 415],
  ['a report from another site', '[]', 'application/reports+json', 403, { Origin: 'https://evil.example' }],
])('a request with %s is rejected', async (_name, body, type, status, headers = {}) => {
  expect(await post(body, type, headers)).toBe(status);
  expect([site.failures, site.faults]).toEqual([[], []]);
});
