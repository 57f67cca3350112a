import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { Hour, Minute } from '../../../../src/shared/units.ts';
import { ADA } from '../../../support/people.ts';
import { fullWithSource, startDeskApi } from '../../support/desk-api.ts';
import { fullOf, ingest, summaryOf } from '../../support/stores.ts';

const DIGEST = '7K3QM2XA';
const OTHER = '2M3KQ7XA';
const PATH = `/incidents/${DIGEST}`;
const NOW = Date.now();
const RESOLVED = { status: { state: 'resolved' } };
const IGNORED = { status: { state: 'ignored' } };

async function start(options: Parameters<typeof startDeskApi>[0] = {}) {
  const api = await startDeskApi(options);
  await ingest(api.site.store, fullWithSource(), summaryOf({ digest: OTHER, title: 'Other', at: Date.now() + Minute }));
  const patch = (body: object, ifMatch?: string) =>
    api.ask('patch', PATH, { body, ...(ifMatch !== undefined && { headers: { 'If-Match': ifMatch } }) });
  return { ...api, patch, tag: async () => String((await api.get(PATH)).headers.etag) };
}

describe('a caller', () => {
  const { token } = ADA;

  it.each([
    ['Authorization', `Basic ${Buffer.from(`ada:${token}`).toString('base64')}`],
    ['Authorization', 'Bearer'],
    ['Authorization', token],
    ['Authorization', `Bearer ${token} ${token}`],
    ['X-Api-Key', token],
  ])('is not authenticated by %s: %s', async (name, value) => {
    const { site, get } = await start();
    for (const path of ['/incidents', '', '/nothing', `/incidents?access_token=${token}`]) {
      const { status, headers } = await request(site.app).get(`/api/desk${path}`).set(name, value);
      expect([status, headers['www-authenticate']], path).toEqual([401, 'Bearer realm="desk"']);
      expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-robots-tag': 'noindex, nofollow' });
    }
    expect((await get('/openapi.json', { token: '' })).status).toBe(200);
    expect((await request(site.app).get('/api/desk/docs')).text).toContain('Desk · API reference');
  });

  it('is not authenticated by a session or by the header of a proxy', async () => {
    const secret = 'a-secret-of-the-proxy';
    const { site } = await start({ proxy: { header: 'x-user', secret, operators: ['*'] }, trustProxy: ['loopback'] });
    const named = { 'X-User': 'eve', 'X-Auth-Proxy-Secret': secret };
    const cookie = await site.enter();
    expect((await site.get('/desk').set(named)).status).toBe(200);
    expect((await site.get('/api/desk/incidents', cookie).set(named)).status).toBe(401);
  });
});

describe('an incident', () => {
  it('is returned with its details, down to the source line, and only what the schema lists', async () => {
    const { get } = await start({ links: { source: 'https://code.example/{file}' } });
    const lines = expect.arrayContaining(['  return cart.order.total; // here']);
    const frame = { file: 'src/server/product/pages/cart.ts', line: 2, source: { start: 1, lines } };
    const { body, headers } = await get(PATH);
    expect(body).toMatchObject({
      ...{ digest: DIGEST, status: { state: 'open' }, counts: { server: 1, browser: 0 } },
      releases: [{ release: 'v1', count: 1 }],
      recent: [{ occurrence: '9F4W0R6B' }],
      shown: { full: { request: { method: 'GET', url: '/orders/7' }, errors: [{ frames: [frame] }] } },
    });
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    });
  });

  it('is found by its digest, and by the address of an occurrence, in any spelling', async () => {
    const { get, site } = await start();
    await ingest(site.store, summaryOf({ occurrence: '00000001', at: NOW - Hour }));
    expect((await get('/incidents/7K3QM2XA9')).status).toBe(404);
    const full = { tags: [['plan', 'business']], test: { text: expect.stringContaining('/orders/7') } };
    expect((await get('/incidents/7k3qm2xa-9f4w0r6b')).body.shown).toMatchObject({ occurrence: '9F4W0R6B', full });
    const { shown, missed } = (await get('/incidents/7k3qm2xa00000001')).body; // only its row is stored
    expect([shown.occurrence, missed]).toMatchObject(['9F4W0R6B', { occurrence: '00000001', state: 'summary' }]);
    const unknown = (await get('/incidents/7k3qm2xa-00000002')).body;
    expect(unknown).toMatchObject({ digest: DIGEST, missed: { occurrence: '00000002', state: 'unknown' } });
  });
});

describe('Accept: text/markdown', () => {
  const ask = async (
    { site }: Pick<Awaited<ReturnType<typeof start>>, 'site'>,
    path: string,
    accept = 'text/markdown',
  ) =>
    request(site.app)
      .get(`/api/desk/incidents/${path}`)
      .set({ Authorization: `Bearer ${ADA.token}`, Accept: accept });

  it('gets an incident as Markdown, with the occurrence of its address', async () => {
    const api = await start();
    const { status, headers, text } = await ask(api, '7k3qm2xa-9f4w0r6b');
    expect([status, headers['content-type']]).toEqual([200, 'text/markdown; charset=utf-8']);
    expect(headers.vary).toMatch(/Accept\b/);
    expect(text).toMatch(/^# 7K3QM2XA\n\n```\nTypeError: boom\n```\n\n- State: Open\n/);
    expect(text).toContain('\n> 2   return cart.order.total; // here\n');
    expect((await ask(api, '7k3qm2xa-00000002')).text).toContain('The occurrence 00000002 is unknown');
    for (const accept of ['*/*', 'application/json, text/markdown;q=0.5']) {
      expect((await ask(api, DIGEST, accept)).headers['content-type']).toMatch('application/json');
    }
  });

  it('is refused like JSON if the incident was deleted, or the occurrence may not be stored yet', async () => {
    const api = await start();
    await api.site.store.changes.deleteIncident(`${OTHER}@test`, { author: 'ada' });
    const { status, body } = await ask(api, '2m3k-q7xa');
    expect([status, body.detail]).toEqual([404, expect.stringContaining('deleted by ada')]);
    const found = await api.site.store.finder.find({ digest: DIGEST });
    const later = await start({ calls: { find: async () => found && { ...found, state: 'arriving' } } });
    expect([(await later.get(PATH)).status, (await ask(later, DIGEST)).status]).toEqual([503, 503]);
  });
});

describe('a change', () => {
  it.each([
    [{ state: 'resolved', in: 'next' }, { isForNext: true }],
    [{ state: 'ignored', until: 4e12 }, { ignoredUntil: 4e12 }],
    [{ state: 'ignored', untilMore: 25 }, { ignoredUntilMore: 25 }],
    [{ state: 'open' }, {}],
  ])('to %j is stored with its author, and returns what it replaced', async (status, told) => {
    const { get, patch } = await start();
    await patch(IGNORED);
    const { body } = await patch({ status });
    expect(body.replaced).toMatchObject({ status: { state: 'ignored', changedBy: 'ada' }, version: '1' });
    const { state } = status;
    expect(body.incident.status).toEqual({ state, ...told, changedBy: 'ada', changedAt: expect.any(Number) });
    expect((await get(PATH)).body.status).toEqual(body.incident.status);
  });

  it('returns an ETag for the next request, and a stale one is refused', async () => {
    const { ask, get, patch, tag, site } = await start();
    const before = await tag();
    await ingest(site.store, summaryOf());
    expect(await tag()).not.toBe(before);
    const etag = String((await patch(RESOLVED, before)).headers.etag); // an occurrence is no change
    expect((await get(PATH, { headers: { 'If-None-Match': etag } })).status).toBe(304);
    expect((await patch(IGNORED, `W/${etag}`)).status, 'after a proxy that compresses').toBe(200);
    const refused = await patch(RESOLVED, etag);
    expect([refused.status, refused.body.detail]).toEqual([
      412,
      expect.stringMatching(/^The incident was changed in the meantime: ignored, last by ada at /),
    ]);
    expect((await ask('delete', PATH, { headers: { 'If-Match': await tag() } })).status).toBe(204);
    expect(await get(PATH)).toMatchObject({ status: 404, body: { detail: expect.stringContaining('deleted by ada') } });
  });
});

describe('the list', () => {
  it('is filtered and sorted', async () => {
    const { get, site } = await start();
    const other = { digest: OTHER, title: 'number 1', at: Date.now() + Minute, release: 'v2' };
    await ingest(site.store, fullOf(other), summaryOf(), summaryOf());
    for (const [search, digests] of [
      ['sort=count', [DIGEST, OTHER]],
      ['route=/orders/:id&release=v2', [OTHER]],
      ['environment=staging', []],
      ['state=all&search=number%201', [OTHER]],
    ] as const) {
      const { incidents } = (await get(`/incidents?${search}`)).body;
      expect(incidents, search).toMatchObject(digests.map((digest) => ({ digest })));
    }
  });
});
