import { createHash } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { WiringError } from '../../../src/server/errors/wiring-error.ts';
import { BOOT_ID, createContentPolicy } from '../../../src/server/front/content-policy.ts';

/** For pages that can have `style` attributes. */
const STYLED = { styleAttributes: true };

const STYLES = "style-src 'self' 'report-sample'";
const REST =
  "style-src-attr 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; " +
  "form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'";

it('allows scripts and styles with the nonce', () => {
  expect(createContentPolicy({}, STYLED).forNonce('abc')).toBe(
    `default-src 'none'; script-src 'nonce-abc' 'strict-dynamic'; ${STYLES} 'nonce-abc'; ${REST}`,
  );
});

it.each([
  [{ style: ["'unsafe-inline'"] }, `${STYLES} 'unsafe-inline';`, `${STYLES} 'unsafe-inline';`],
  [{ staticStyle: ["'unsafe-inline'"] }, `${STYLES} 'nonce-abc';`, `${STYLES} 'unsafe-inline';`],
  [
    { style: ["'sha256-x'"], staticStyle: ["'unsafe-inline'"] },
    `'sha256-x' 'nonce-abc';`,
    `${STYLES} 'unsafe-inline';`,
  ],
  [{ style: ['a.example'], staticStyle: ['b.example'] }, `a.example 'nonce-abc';`, `${STYLES} a.example b.example;`],
])('has the style sources %o, and no nonce or hash that would void them', (sources, dynamic, constant) => {
  const policy = createContentPolicy(sources, STYLED);
  expect(policy.forNonce('abc')).toContain(dynamic);
  expect(policy.forStatic()).toContain(constant);
});

it.each<[source: string, allowed: readonly string[], refused: readonly string[]]>([
  ['https://pay.example', ['https://pay.example/x'], ['https://api.pay.example/', 'https://payxexample/']],
  ['pay.example:8443/checkout', ['https://pay.example:8443/'], ['https://evil.example/']],
  ['https://*.pay.example', ['https://a.pay.example/', 'https://a.b.pay.example/'], ['https://pay.example/']],
  ['https:', ['https://any.example/'], ['http://any.example/']],
])('knows where forms can lead with the source %s', (source, allowed, refused) => {
  const { leadsForms } = createContentPolicy({ form: [source] }, STYLED);
  for (const url of [...allowed, ...refused]) expect([url, leadsForms(url)]).toEqual([url, allowed.includes(url)]);
});

it('explains sources that cannot work, in place of a stack', () => {
  const create = (sources: object) => () => createContentPolicy(sources, STYLED);
  expect(create({ image: ['a b'] })).toThrow(WiringError);
  expect(create({ images: [] })).toThrow(WiringError);
  expect(create({ style: ['unsafe-inline'] })).toThrow(`Keep its quotation marks: "'unsafe-inline'".`);
  expect(create({ script: ['https://tags.example'] })).toThrow(/has no `script`.*docs\/recipes\/other-hosts\.md/);
  expect(create({ images: [] })).toThrow(/has no `images`. Use one of these: style, .*image/);
});

it('blocks style attributes if no page uses them', () => {
  const policy = createContentPolicy({}, { styleAttributes: false });
  for (const text of [policy.forNonce('abc'), policy.forStatic()]) expect(text).not.toMatch(/style-src-attr|unsafe/);
});

it('allows only its two scripts in a cached page', () => {
  const { bootScript, forStatic } = createContentPolicy({}, { ...STYLED, earlyScript: 'early()' });
  const [early, boot] = ['early()', bootScript].map(
    (script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  expect(forStatic()).toBe(`default-src 'none'; script-src ${early} ${boot} 'strict-dynamic'; ${STYLES}; ${REST}`);
  expect(bootScript).not.toMatch(/<|-->/);
});

it('names the endpoint for violation reports', () => {
  const policy = createContentPolicy({}, { ...STYLED, reportPath: '/_report/browser' });
  const texts = [policy.forNonce('abc'), policy.forStatic(), policy.reportOnly()];
  expect(texts).toEqual(texts.map(() => expect.stringMatching(/; report-uri \/_report\/browser$/)));
  expect(createContentPolicy({}, STYLED).reportOnly()).not.toContain('report');
});

it('accepts additional sources, and rejects values that would add directives', () => {
  const sources = {
    image: ['https://images.example'],
    frame: ['https://video.example'],
    framedBy: ['https://partner.example'],
  };
  const policy = createContentPolicy(sources, STYLED).forStatic();
  expect(policy).toContain("img-src 'self' data: https://images.example;");
  expect(policy).toContain('frame-src https://video.example;');
  expect(policy).toContain("frame-ancestors 'self' https://partner.example");
  for (const source of ["x; script-src 'unsafe-inline'", 'a b', 'a,b', '']) {
    expect(() => createContentPolicy({ connect: [source] }, STYLED)).toThrow(/Give each source/);
  }
});

it('allows the inline scripts of a product by their hashes, in every page', () => {
  const policy = createContentPolicy({ inlineScript: ['theme();'] }, STYLED);
  const hash = `'sha256-${createHash('sha256').update('theme();').digest('base64')}'`;
  expect(policy.forNonce('abc')).toContain(`script-src 'nonce-abc' ${hash} 'strict-dynamic';`);
  expect(policy.forStatic()).toContain(` ${hash} 'strict-dynamic';`);
});

function boot(urls: string[], withTrustedTypes = true) {
  const added: unknown[] = [];
  const names: string[] = [];
  function createPolicy(name: string, rules: object) {
    names.push(name);
    return rules;
  }
  runInNewContext(createContentPolicy({}, STYLED).bootScript, {
    URL,
    self: withTrustedTypes ? { trustedTypes: { createPolicy } } : {},
    location: { origin: 'https://example.com', href: 'https://example.com/a/b' },
    document: {
      getElementById: (id: string) => (id === BOOT_ID ? { textContent: JSON.stringify(urls) } : null),
      createElement: () => ({}),
      head: { appendChild: (element: unknown) => added.push(element) },
    },
  });
  return { added, names };
}

it.each([true, false])(
  'the boot script inserts each asset as an async module, Trusted Types: %s',
  (withTrustedTypes) => {
    const urls = ['/assets/main-x.js', '/assets/page-y.js'];
    const { added, names } = boot(urls, withTrustedTypes);
    expect(added).toEqual(urls.map((url) => ({ type: 'module', async: true, src: `https://example.com${url}` })));
    expect(names).toEqual(withTrustedTypes ? ['boot'] : []);
  },
);

it.each([
  'https://evil.example/assets/x.js',
  '//evil.example/assets/x.js',
  '/other/x.js',
  '/assets/../x.js',
  'data:text/javascript,1',
  'javascript:alert(1)',
])('the boot script throws for %s', (url) => {
  expect(() => boot([url])).toThrow(/assets of this site/);
});
