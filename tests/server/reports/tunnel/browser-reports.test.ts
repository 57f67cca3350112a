import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askRaw } from '../../../support/raw-http.ts';
import { makeFakeDigest, startTunnelSite, type TunnelSite } from '../../../support/tunnel-site.ts';

let site: TunnelSite;

beforeEach(async () => {
  site = await startTunnelSite();
});
afterEach(() => site.close());

async function post(body: unknown, type = 'application/reports+json'): Promise<number> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const headers = { 'Content-Type': type };
  const reply = await fetch(`${site.origin}/_report/browser`, { method: 'POST', body: text, headers });
  if (reply.status === 204) expect(await reply.text()).toBe('');
  return reply.status;
}

function report(type: string, body: Record<string, unknown>, more: Record<string, unknown> = {}) {
  return { type, age: 10, url: `${site.origin}/orders/7?token=hushToken`, user_agent: 'forged', body, ...more };
}

function violation(overrides: Record<string, unknown> = {}) {
  return {
    effectiveDirective: 'img-src',
    blockedURL: 'https://evil.example/a.png?hushQuery',
    disposition: 'enforce',
    ...overrides,
  };
}

const ignored = (reason: string) => site.counts.get(`spillway_reports_ignored_total{reason=${reason}}`) ?? 0;

it.each<[string, string | undefined, string | undefined]>([
  ['a script of a build', 'SITE/assets/a-ABCDEFGH.js', 'client/assets/a-ABCDEFGH.js'],
  ['a script of another site', 'https://tags.example/v2.1/tag.js?id=7#x', 'https://tags.example/*/tag.js'],
  ['a page', 'SITE/orders/7', undefined],
  ['an unknown source', undefined, undefined],
  ['something that is not a URL', 'https://[', undefined],
])('reports about Trusted Types are grouped by their source: %s', async (_, source, file) => {
  const asked: (string | undefined)[] = [];
  site.close();
  site = await startTunnelSite({
    makeDigest(input) {
      asked.push(input.errors[0]?.frames[0]?.file);
      return { ...makeFakeDigest(input), site: { path: 'src/shared/product/tag.ts', function: 'insert', detail: '' } };
    },
  });
  const sourceFile = source?.replace('SITE', site.origin);
  const body = { effectiveDirective: 'require-trusted-types-for', blockedURL: 'trusted-types-sink', sourceFile };
  expect(await post([report('csp-violation', body)])).toBe(204);
  expect(asked).toEqual([file]);
  expect(site.failures).toMatchObject([{ kind: 'csp', errors: [], site: { function: 'insert' } }]);
});

describe('reports that create incidents', () => {
  it('are CSP violations, grouped by directive and blocked host', async () => {
    const place = { sourceFile: `${site.origin}/assets/a.js`, lineNumber: 3, columnNumber: 4 };
    expect(await post([report('csp-violation', violation({ ...place, sample: 'x hushSample' }))])).toBe(204);
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
      'csp-report': {
        'document-uri': `${site.origin}/`,
        'violated-directive': "script-src-elem 'self'",
        'blocked-uri': 'inline',
        'script-sample': 'alert(1)',
      },
    };
    expect(await post(old, 'application/csp-report')).toBe(204);
    expect(site.failures).toMatchObject([
      { kind: 'csp', extra: { directive: 'script-src-elem', blocked: 'inline', sample: 'alert(1)' } },
    ]);
  });

  it('are crashes, deprecations and interventions', async () => {
    await post([
      report('crash', { reason: 'oom' }),
      report('crash', { reason: 'made up' }),
      report('crash', { reason: 'unresponsive', stack: 'at hushFunction' }),
      report('deprecation', {
        id: 'PrefixedStorageInfo',
        message: 'Use the other one.',
        anticipatedRemoval: '2027-01-01',
      }),
      report('intervention', { id: 'NavigatorVibrate', message: 'Blocked.' }),
    ]);
    expect(site.failures.map(({ kind, title }) => [kind, title])).toEqual([
      ['crash', 'crash: {"reason":"oom"}'],
      ['crash', 'crash: {"reason":"unknown"}'],
      ['crash', 'crash: {"reason":"unresponsive"}'],
      ['deprecation', 'deprecation: {"id":"PrefixedStorageInfo"}'],
      ['intervention', 'intervention: {"id":"NavigatorVibrate"}'],
    ]);
    expect(JSON.stringify(site.failures)).not.toContain('hush');
  });

  it('get their time from their age, if it is plausible', async () => {
    const before = Date.now();
    await post([
      report('crash', { reason: 'oom' }, { age: 600_000 }),
      report('deprecation', { id: 'a' }, { age: 1e12 }),
    ]);
    expect(site.failures[0]?.at).toBeLessThan(before - 500_000);
    expect(site.failures[1]?.at).toBeGreaterThanOrEqual(before);
  });

  it('can arrive as a single report, and as plain JSON', async () => {
    expect(await post(report('crash', {}), 'application/json; charset=utf-8')).toBe(204);
    expect(site.failures).toHaveLength(1);
  });
});

describe('reports that are dropped and counted', () => {
  it('are about browser extensions', async () => {
    const schemes = [
      ...['chrome-extension://abc/a.js', 'moz-extension://abc/a.js', 'safari-web-extension://abc', 'safari-extension'],
      ...['ms-browser-extension:', 'about', 'webkit-masked-url://hidden/', 'resource://x'],
    ];
    await post(
      schemes.flatMap((url) => [
        report('csp-violation', violation({ blockedURL: url })),
        report('csp-violation', violation({ sourceFile: url })),
      ]),
    );
    await post([report('deprecation', { id: 'x', sourceFile: 'chrome-extension://abc/a.js' })]);
    expect(site.failures).toEqual([]);
    expect(ignored('extension')).toBe(17);
  });

  it('are about the network, or have an unknown type', async () => {
    const types = ['network-error', 'coep', 'permissions-policy-violation'];
    await post(types.map((type) => report(type, {})));
    expect([site.failures, ignored('network-error'), ignored('other-type')]).toEqual([[], 1, 2]);
  });

  it('are about pages of other sites', async () => {
    const pages = [
      ...['https://evil.example/', 'about:srcdoc', 'data:text/html,x', '', 'x', null, 7],
      ...[`${site.origin}.evil.example/`, 'http://127.0.0.1/'],
    ];
    await post(pages.map((url) => report('crash', {}, { url })));
    expect([site.failures, ignored('foreign-page')]).toEqual([[], pages.length]);
  });

  it('exceed one a minute for each incident, or 30 in total', async () => {
    for (let turn = 0; turn < 20; turn += 1) await post([report('csp-violation', violation())]);
    expect(site.failures).toHaveLength(1);
    await post(
      Array.from({ length: 90 }, (_, index) =>
        report('csp-violation', violation({ blockedURL: `https://h${index}.example/` })),
      ),
    );
    expect(site.failures.length).toBeLessThanOrEqual(31);
    expect(site.failures.length).toBeGreaterThan(25);
    expect(ignored('thinned')).toBe(110 - site.failures.length);
  });

  it('follow the hundredth in a body', async () => {
    await post(Array.from({ length: 250 }, () => report('network-error', {})));
    expect([ignored('network-error'), ignored('too-many')]).toEqual([100, 150]);
  });

  const violated = (effectiveDirective: unknown, blockedURL: unknown) => ({
    type: 'csp-violation',
    body: { effectiveDirective, blockedURL },
  });
  const odd = [
    ...[null, 1, '"x"', true, [[]], [null], {}, { type: 'csp-violation', body: 1 }, { type: ['crash'], body: {} }],
    ...[{ 'csp-report': null }, { 'csp-report': {} }],
    ...[violated('made-up-src', 'inline'), violated({}, 'inline'), violated('__proto__', undefined)],
    ...[violated('img-src', 7), violated('img-src', '//['), violated('img-src', 'x'.repeat(9000))],
    ...[undefined, 7, 'a b\r\nc', 'x'.repeat(102)].map((id) => ({ type: 'deprecation', body: { id } })),
  ];
  it('are malformed', async () => {
    for (const body of odd) expect(await post(body)).toBe(204);
    expect([site.failures, site.faults, ignored('malformed')]).toEqual([[], [], odd.length]);
  });
});

describe('requests that are rejected', () => {
  it.each([
    ['invalid JSON', '{', 'application/reports+json', 400],
    ['nothing', '', 'application/reports+json', 400],
    ['deep JSON', '['.repeat(100) + ']'.repeat(100), 'application/reports+json', 400],
    ['wide JSON', `[${'0,'.repeat(60_000)}0]`, 'application/reports+json', 413],
    ['text', '[]', 'text/plain', 415],
    ['a form', 'a=b', 'application/x-www-form-urlencoded', 415],
    ['an envelope', '{}\n{"type":"event"}\n{}', 'application/x-sentry-envelope', 415],
    ['other JSON', '[]', 'application/ld+json', 415],
  ])('have %s', async (_name, body, type, status) => {
    expect(await post(body, type)).toBe(status);
    expect([site.failures, site.faults]).toEqual([[], []]);
  });

  it('are sent by a browser on behalf of another site', async () => {
    const text = JSON.stringify([report('crash', {})]);
    const headers = [`Host: 127.0.0.1:${site.port}`, `Content-Length: ${text.length}`, 'Sec-Fetch-Site: cross-site'];
    const type = 'Content-Type: application/reports+json';
    const { status } = await askRaw(site.port, 'POST /_report/browser HTTP/1.1', [...headers, type], text);
    expect([status, site.failures]).toEqual([403, []]);
  });
});
