import { describe, expect, it } from 'vitest';
import {
  createPathScrubber,
  hidePathSecrets,
  listPathPatterns,
} from '../../../../src/server/errors/scrub/secret-path.ts';
import { createScrubber } from '../../../../src/server/errors/scrub.ts';

const scrubber = createScrubber();

it.each([
  ['/reset/abc', '/reset/:token', '/reset/[redacted]'],
  ['/reset/abc?page=2', '/reset/:token', '/reset/[redacted]?page=2'],
  ['/users/7/keys/abc/use', '/users/:id/keys/:accessKey/use', '/users/7/keys/[redacted]/use'],
  ['/_data/reset/abc', '/reset/:token', '/_data/reset/[redacted]'],
  ['/reset/abc', '/reset/:token?', '/reset/[redacted]'],
  ['/reset', '/reset/:token?', '/reset'],
  ['/share/abc', '/:lang?/share/:token', '/share/[redacted]'],
  ['/de/share/abc', '/:lang?/share/:token', '/de/share/[redacted]'],
  ['/_data/share/abc/', '/:lang?/share/:token', '/_data/share/[redacted]/'],
  ['/gr%C3%B6%C3%9Fe/abc', '/:lang?/größe/:token', '/gr%C3%B6%C3%9Fe/[redacted]'],
  ['/abc', '/:lang?/:token?', '/[redacted]'],
  ['/edit', '/:token?/edit', '/edit'],
  ['/reset/abc/file', '/reset/:token/*', '/reset/[redacted]/file'],
  ['/reset/abc', '/reset/:invite-token', '/reset/[redacted]'],
  ['/shop/reset/abc', '/reset/:token', '/shop/reset/[redacted]'],
  ['/reset/abc/a/file', '/reset/:token/*rest', '/reset/[redacted]/a/file'],
  ['/orders/abc', '/orders/:id', '/orders/abc'],
  ['/orders/abc', undefined, '/orders/abc'],
])('parameters named like a secret are redacted in %s', (url, route, expected) => {
  expect(hidePathSecrets(url, route, scrubber)).toBe(expected);
});

it('redacts secrets in a path by pattern and by value, every time', () => {
  const scrubPath = createPathScrubber(createScrubber().with(['known-secret']));
  for (let time = 0; time < 2; time += 1) {
    expect(scrubPath('/a/known-secret', undefined)).toBe('/a/[redacted]');
    expect(scrubPath('/unsubscribe/ann@example.com', '/unsubscribe/:who')).toBe('/unsubscribe/[redacted]');
    expect(scrubPath('/reset/abc', '/reset/:token')).toBe('/reset/[redacted]');
    expect(scrubPath('/reset/abc', undefined)).toBe('/reset/abc');
  }
  for (let number = 0; number < 3000; number += 1) expect(scrubPath(`/orders/${number}`, '')).toBe(`/orders/${number}`);
});

describe('in any text, such parameters', () => {
  const routes = [
    '/reset/:token',
    '/users/:id/keys/:accessKey/use',
    '/:lang?/share/:invite-token',
    '/:owner/modules/:token',
    '/@team/:secret',
    '/größe/:pin',
    '/:secret',
    '/:lang/:token',
    '/old?/:token',
    '/orders/:id',
  ];
  const patterns = listPathPatterns(routes, scrubber);
  const own = createScrubber({ patterns }).with(['https://literal.example']);

  it('are recognized after a fixed part of the route only', () => {
    expect(patterns).toHaveLength(8);
  });

  it.each([
    'GET https://a.example/reset/{}?page=2',
    'from "/reset/{}" to /reset/{}/f',
    '/reset/{}?a=b#c',
    '/users/7/keys/{}/use',
    'https://a.example/users/7/keys/{}/use',
    '/share/{}',
    '/de/share/{}',
    'https://a.example/share/{} or https://a.example/de/share/{}',
    '/ada/modules/{}',
    '/@team/{}',
    '/old/{}',
    '/größe/{} and /gr%C3%B6%C3%9Fe/{}',
    // Page data.
    '/_data/reset/{}',
    'http://localhost:3000/_data/reset/{}?_=1',
    '/_data/de/share/{}',
    // Origins.
    'HTTPS://[redacted]@A.EXAMPLE:8443/reset/{}',
    'http://[::1]:3000/reset/{}',
    'http:/a.example/reset/{}',
    'https://a.example//reset/{}',
    '//a.example/reset/{}',
    '//reset/{}',
    'http:///reset/{}',
    'capacitor://localhost/reset/{}',
    'blob:https://a.example/reset/{}',
    'https://archive.example/web/https://a.example/reset/{}',
    // Origins without a scheme.
    'see a.example/reset/{} a.example./reset/{}',
    '(www.a.example:8080/reset/{}',
    'localhost/reset/{} localhost:3000/reset/{} web:3000/reset/{}',
    '127.0.0.1/reset/{} [::1]:3000/reset/{}',
    '{base}/reset/{} {{base}}/reset/{} <base>/reset/{}',
    '[redacted]/reset/{} [redacted]:80/reset/{} [redacted].a.example/reset/{}',
    // Relative URLs.
    './reset/{} ../reset/{} ".../reset/{}" …/reset/{}',
    'https://a.example/./reset/{} /a/../reset/{}',
    // Characters around a URL in a text.
    'at:/reset/{}',
    'url=/reset/{}',
    'a,/reset/{} ;/reset/{}',
    '#/reset/{} #!/reset/{} ?/reset/{}',
    '(/reset/{} [/reset/{}',
    '*/reset/{} -/reset/{} _/reset/{} |/reset/{} `/reset/{}',
    '请访问/reset/{}',
    '\x1b[31m/reset/{}',
    String.raw`{"stack":"Error\n/reset/{}"} href\u003d/reset/{}`,
    '<a href="/reset/{}">&quot;/reset/{}',
    'GET%20/reset/{} and %22/reset/{}',
    // The query.
    '/a?next=/reset/{}',
    '/a?next=https://a.example/reset/{}',
    `/a?next=${encodeURIComponent('/reset/')}{}`,
    `/a?next=${encodeURIComponent('https://a.example/reset/')}{}`,
    `/a?next=${encodeURIComponent(`/b?next=${encodeURIComponent('/reset/')}`)}{}`,
  ])('are redacted in %s', (text) => {
    expect(own.text(text.replaceAll('{}', 'abc'))).toBe(text.replaceAll('{}', '[redacted]'));
  });

  it('are redacted after an origin that is itself a secret', () => {
    expect(own.text('https://literal.example/reset/abc')).toBe('[redacted]/reset/[redacted]');
  });

  it.each([
    '/orders/abc and /preset/abc',
    '/_dev/modules/src/reset/product/x.js',
    'http://localhost:3000/_dev/modules/src/reset/product/x.js:10:5',
    'at Page (http://localhost:3000/_dev/modules/src/share/x.js?v=2:10:5)',
    '/_dev/modules/src/users/7/keys/x.js',
    'src/reset/product/x.js',
    '(src/reset/product/x.js)',
    '../src/reset/product/x.js',
    '/work/app/src/reset/product/x.js',
    'file:///work/app/src/reset/x.js and file:///reset/x.js',
    String.raw`C:\app/src/reset/x.js`,
    '/app/[lang]/reset/x.js and /app/(group)/reset/x.js and /app/{a}/reset/x.js',
    '/a/[redacted]/reset/x',
    '/app/my-/reset/x.js /app/v1./reset/x.js /app/a~/reset/x.js',
    'node_modules/a.example/reset/x.js',
    'node_modules/.pnpm/react@18.2.0/reset/x.js',
    '@/reset/x.js and ~/reset/x.js',
    'https://reset/product/x',
    'https://a.example/b/reset/x https://a.example/_data/b/reset/x',
    '/a?file=src/reset/x.js',
    `/a?file=${encodeURIComponent('src/reset/x.js')}`,
    '/a/b/share/x',
  ])('are not looked for in %s', (text) => {
    expect(own.text(text)).toBe(text);
  });
});
