import { describe, expect, it } from 'vitest';
import type { StoredFailure } from '../../../../src/desk/server/store/records.ts';
import { presentTest } from '../../../../src/desk/server/views/present-test.ts';
import { createFailure } from '../../support/desk.ts';

const write = (more: Partial<StoredFailure>) =>
  presentTest({
    ...createFailure({ occurrence: '9F4W0R6B', at: 10_000, title: 'TypeError: no city' }),
    location: { path: 'src/server/product/api/people.ts', function: 'add', detail: '' },
    ...more,
  });

describe('the test of a failure on the server', () => {
  it('sends the request, and names the fields without their values', () => {
    const made = write({
      request: {
        method: 'POST',
        url: '/api/people?from=list',
        headers: { accept: '*/*', 'accept-language': 'de', 'content-type': 'application/json' },
        credentials: ['sid'],
        body: { fields: { email: 'string', age: 'number', currency: { value: 'CHF' }, tags: { items: [] } } },
      },
    });
    expect(made?.file).toBe('tests/product/failures/7K3QM2XA.test.ts');
    expect(made?.text).toBe(`import request from 'supertest';
import { expect, it } from 'vitest';
import { openApp } from '../../support/product/open-app.ts';

// TypeError: no city
// at src/server/product/api/people.ts, add
// The desk has the full story: npm run desk -- 7K3QM2XA-9F4W0R6B
it('POST /api/people?from=list does not fail with 7K3QM2XA', async () => {
  // TODO: The values of sid are never recorded. Set \`cookie\` to the session of a visitor with access. In an app with accounts, startSession() and, in a browser, signInAt() return it (tests/support/product/visitor.ts).
  // TODO: The values of email, age were not recorded. If this test passes, try others.
  // TODO: Rows of your database are not recorded. If this test passes before the fix, give openApp() \`services\` with rows.
  const cookie = '';
  expect(cookie, 'Set \`cookie\` above. If this failure needs no session, delete this line.').not.toBe('');
  const { app, failures } = await openApp();
  const { status, headers } = await request(app)
    .post('/api/people?from=list')
    .set({ 'accept-language': 'de' })
    .send({ email: 'someone@example.com', age: 1, currency: 'CHF', tags: [] })
    .set({ cookie });
  expect(await failures()).toEqual([]);
  expect(status, 'Rows are missing that this request needs. If 404 is right, delete this line.').not.toBe(404);
  const hint = 'The request was refused before the bug. Sign in, or send what the handler accepts, such as a valid signature. If this status is right, delete this line.';
  expect([400, 401, 403, 422], hint).not.toContain(status);
  expect(headers.location ?? '', 'Sign in first.').not.toMatch(/sign-?in|log-?in/i);
});
`);
    expect(made?.missing).toHaveLength(3);
  });

  const headers = { 'content-type': 'application/json', 'content-length': '7' };
  it.each<[what: string, request: object, text: string, missing: number]>([
    [
      'is not taken for mended if a guard redirects a visitor without credentials',
      { method: 'GET', url: '/people', credentials: ['sid'] },
      "'The signed-in visitor cannot open this page.').toBeLessThan(300);",
      2,
    ],
    [
      'is not taken for mended if a guard refuses it, although no credentials are known',
      { method: 'GET', url: '/people' },
      '.not.toContain(status);',
      1,
    ],
    ['is not taken for mended if rows are missing', { method: 'GET', url: '/people/7' }, '.not.toBe(404);', 1],
    ['needs no cookie of preferences', { credentials: ['_ga', 'theme'] }, ".post('/people');", 2],
    ['needs the header that can hold a session', { credentials: ['_ga', 'authorization'] }, 'expect(authorization', 2],
    ['needs the cookie rather than the header', { credentials: ['authorization', 'sid'] }, 'expect(cookie', 2],
    ['sends no body if there was none', { method: 'GET', body: { fields: {} } }, ".get('/people');", 1],
    ['keeps the type of an unknown body', { headers }, ".post('/people').type('application/json');", 2],
  ])('%s', (_what, request, text, missing) => {
    const made = write({ request: { method: 'POST', url: '/people', headers: {}, ...request } });
    expect(made).toMatchObject({ text: expect.stringContaining(text), missing: { length: missing } });
  });

  it('never lets a text of a visitor become code', () => {
    const evil = "a'); process.exit(); //\n\u2028*/ \u202e`\u0024{x}` \\";
    const made = write({
      title: evil,
      errors: [{ class: evil, message: evil, frames: [] }],
      request: {
        method: 'POST',
        url: `/${evil}`,
        headers: { 'accept-language': evil, 'content-type': 'application/json' },
        body: { fields: { [evil]: { value: evil }, __proto__x: 'string' } },
      },
    });
    const code = (made?.text ?? '')
      .split('\n')
      .filter((line) => !line.trim().startsWith('//'))
      .join('\n')
      .replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, '""');
    expect(code).not.toContain('exit');
    expect(made?.text).not.toMatch(/[\u2028\u202e]/);
  });

  it('is not written for the death of a process', () => {
    expect(write({ origin: 'process', request: { method: 'GET', url: '/' } })).toBeUndefined();
  });
});

describe('the test of a failure in a browser', () => {
  const inBrowser = (more: Partial<StoredFailure>) =>
    write({
      side: 'browser',
      origin: 'browser',
      request: { method: 'GET', url: 'https://a.example/cart?x=1' },
      ...more,
    });

  it('repeats the steps of the visitor', () => {
    const made = inBrowser({
      breadcrumbs: [
        { at: 1, category: 'ui.click', message: 'a[href="/cart"]' },
        { at: 2, category: 'navigation', message: '', data: { from: '/', to: '/cart?x=1' } },
        { at: 3, category: 'fetch', message: '', data: { method: 'GET', url: '/api/cart', status_code: 503 } },
        { at: 4, category: 'ui.input', message: 'input[name="email"]', data: { type: 'email' } },
        { at: 9000, category: 'ui.click', message: '#pay' },
      ],
    });
    expect(made?.text).toContain(`  const { page, failures } = await site.open('/', {
    before: async (page) => {
      await page.route('**/api/cart', (route) => route.fulfill({ status: 503, json: {} }));
    },
  });
  await page.locator('a[href="/cart"]').click();
  await page.waitForURL('**/cart?x=1');
  await page.locator('input[name="email"]').fill('someone@example.com');
  await page.locator('#pay').click();
  await page.waitForTimeout(1000);
  expect(await failures()).toEqual([]);
`);
    expect(made?.missing).toHaveLength(1);
  });

  it('waits as long as the visitor, and says that the failure can be late', () => {
    const late = inBrowser({ breadcrumbs: [{ at: 4000, category: 'console', message: 'loaded' }] });
    expect(late?.text).toContain(`  const { page, failures } = await site.open('/cart?x=1');
  await page.waitForTimeout(6000);
  expect(await failures()).toEqual([]);
`);
    const unknown = inBrowser({});
    expect(unknown?.text).toContain("  const { failures } = await site.open('/cart?x=1');\n  expect(");
    expect(unknown?.missing).toEqual([
      'Cookies, storage, rows and the time before the failure are not recorded. If this test passes before the fix, add them, or wait with `page.waitForTimeout()`.',
    ]);
  });

  it.each([
    '//evil.example/cart',
    '/\t/evil.example/cart',
    'https://a.example//evil.example/cart',
    'https://a.example/\\evil.example/cart',
    'file:////evil.example/cart',
    'javascript:alert(1)',
    'app:\\\\evil.example\\cart',
    'app:\\\\[',
  ])('stays on the site under test for the address %j', (url) => {
    const page = 'http://localhost:3000/';
    for (const kind of ['exception', 'hydration'] as const) {
      for (const from of ['/', url]) {
        const made = inBrowser({
          kind,
          request: { method: 'GET', url },
          breadcrumbs: [{ at: 2, category: 'navigation', message: '', data: { from, to: url } }],
        });
        const opened = [...(made?.text ?? '').matchAll(/site\.open\('([^']*)'/g)].map(([, path = '']) => path);
        expect(opened).not.toEqual([]);
        for (const path of opened) expect(new URL(path, page).origin).toBe('http://localhost:3000');
        expect(made?.text).not.toMatch(/'(?:\*\*)?[/\\]{2}|(?:javascript|data|https?):/);
      }
    }
  });
});

it('a test that cannot be written says why, and does not hide its incident', () => {
  const request = { method: 'GET', url: '/' };
  const made = write({ side: 'browser', request, breadcrumbs: [null as never] });
  expect(made?.text).toMatch(/^\/\/ The desk could not write this test: TypeError: [^\n]*null/);
});
