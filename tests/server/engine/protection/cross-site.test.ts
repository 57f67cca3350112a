import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { crossSite } from '../../../../src/server/engine/protection/cross-site.ts';
import { createOrigins } from '../../../../src/server/engine/protection/origins.ts';
import { RequestInfo, setRequestInfo } from '../../../../src/server/engine/request/request-info.ts';
import { createFakePages, createTestApp, spyOnLog } from '../../../support/app.ts';

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];
const SITES = [undefined, 'same-origin', 'none', 'same-site', 'cross-site', 'garbage'];
const SAME = 'https://example.com';
const ORIGINS = [
  undefined,
  'null',
  SAME,
  'https://www.example.com',
  'https://example.com:8443',
  'http://example.com',
  'https://evil.example',
  '%%%',
];
const CASES = METHODS.flatMap((method) => SITES.flatMap((site) => ORIGINS.map((origin) => ({ method, site, origin }))));

/** The rule, implemented a second time. */
function passes(method: string, site: string | undefined, origin: string | undefined): boolean {
  if (['GET', 'HEAD', 'OPTIONS'].includes(method)) return true;
  if (site === 'same-origin' || site === 'none') return true;
  return site === undefined && (origin === undefined || origin === SAME);
}

describe.each([
  ['with PUBLIC_ORIGINS', [SAME]],
  ['without PUBLIC_ORIGINS', []],
])('the truth table %s', (_name, configured) => {
  it(`has ${CASES.length} rows, each decided by the rule`, async () => {
    let acted = 0;
    const pages = createFakePages({
      pages: (_req, res) => {
        acted += 1;
        res.send('acted');
      },
    });
    const app = createTestApp({ publicOrigins: configured, trustProxy: ['loopback'], pages });
    expect(CASES).toHaveLength(336);
    for (const { method, site, origin } of CASES) {
      const before = acted;
      const headers: Record<string, string> = { Host: 'example.com', 'X-Forwarded-Proto': 'https' };
      if (site !== undefined) headers['Sec-Fetch-Site'] = site;
      if (origin !== undefined) headers.Origin = origin;
      const status = callStep(configured, method, headers);
      expect([method, site, origin, status]).toEqual([
        method,
        site,
        origin,
        passes(method, site, origin) ? 'passed' : 403,
      ]);
      if (method === 'POST') {
        const reply = await request(app).post('/admin').set(headers);
        expect([site, origin, reply.status]).toEqual([site, origin, passes(method, site, origin) ? 200 : 403]);
        expect(acted - before).toBe(reply.status === 200 ? 1 : 0);
      }
    }
  });
});

function callStep(configured: readonly string[], method: string, headers: Record<string, string>): 'passed' | number {
  const req = {
    method,
    url: '/admin',
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  };
  const info = new RequestInfo({ requestId: 'id', method: 'GET', address: '', origin: SAME });
  info.target = '/admin';
  setRequestInfo(req as never, info);
  const res = { statusCode: 200, setHeader: () => res, end: () => res };
  let passed = false;
  crossSite({ origins: createOrigins(configured, 'http://localhost') })(req as never, res as never, () => {
    passed = true;
  });
  return passed ? 'passed' : res.statusCode;
}

it('answers under /api with a problem document', async () => {
  const reply = await request(createTestApp())
    .post('/api/echo')
    .set({ 'Sec-Fetch-Site': 'cross-site', Cookie: 'session=1' })
    .send({ a: 1 })
    .expect(403);
  expect(reply.headers['content-type']).toBe('application/problem+json');
});

it('logs once what to set if visitors use an origin that the server does not know', async () => {
  const { log, lines } = spyOnLog();
  const post = (headers: Record<string, string>, publicOrigins: readonly string[] = []) =>
    request(createTestApp({ log, publicOrigins }))
      .post('/admin')
      .set({ Host: 'example.com', ...headers })
      .expect(403);
  const said = () => lines.filter(({ msg }) => String(msg).includes('set PUBLIC_ORIGINS'));
  await post({ Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' });
  await post({ Origin: 'https://evil.example' }, ['http://example.com']);
  expect(said()).toEqual([]);
  const app = createTestApp({ log });
  for (let time = 0; time < 2; time++) {
    await request(app).post('/admin').set({ Host: 'example.com', Origin: SAME }).expect(403);
  }
  expect(said()).toMatchObject([{ origin: SAME, address: 'http://example.com' }]);
});

it('allows the origin that a page accepts, but only on that page', async () => {
  const app = createTestApp();
  const foreign = { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://pay.example' };
  await request(app).post('/orders').set(foreign).expect(200);
  await request(app).post('/admin').set(foreign).expect(403);
  await request(app)
    .post('/orders')
    .set({ ...foreign, Origin: 'null' })
    .expect(403);
});

it('does not apply to the pages of an existing app', async () => {
  const app = createTestApp({ existingApp: { app: (_req, res) => void res.send('theirs') } });
  const foreign = { 'Sec-Fetch-Site': 'cross-site' };
  const reply = await request(app).post('/their-webhook').set(foreign).expect(200, 'theirs');
  expect(reply.headers['content-security-policy']).toBeUndefined();
  for (const path of ['/', '/admin', '/_data/admin', '/api', '/api/echo', '/API/echo']) {
    await request(app)
      .post(path)
      .set({ ...foreign, Cookie: 'session=1' })
      .expect(403);
  }
});
