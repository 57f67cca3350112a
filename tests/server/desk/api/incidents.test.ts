import { describe, expect, it } from 'vitest';
import { Day, Hour, Minute } from '../../../../src/shared/units.ts';
import { startDeskApi } from '../../../support/desk-api.ts';
import { VERA } from '../../../support/people.ts';
import { ingest, summaryOf, fullOf } from '../../../support/stores.ts';

const NOW = Date.now();

/** Nine incidents. The first was seen last, and each has one occurrence more than the one before. */
async function start() {
  const api = await startDeskApi();
  for (let index = 1; index <= 9; index++) {
    const digest = `0000000${index}`;
    await ingest(
      api.site.store,
      fullOf({
        digest,
        title: `Error: number ${index}`,
        at: NOW - index * Minute,
        route: index % 2 === 0 ? '/even' : '/odd',
        release: index > 6 ? 'v2' : 'v1',
        side: index === 3 ? 'browser' : 'server',
        kind: index === 4 ? 'timeout' : 'exception',
      }),
    );
    for (let more = 1; more < index; more++) await ingest(api.site.store, summaryOf({ digest, at: NOW - index * Minute }));
  }
  return api;
}

const digestsOf = (reply: { body: { incidents: { digest: string }[] } }) =>
  reply.body.incidents.map(({ digest }) => digest.replace(/^0+/, '')).join('');

describe('the list', () => {
  it('contains the same incidents as the page', async () => {
    const { get } = await start();
    const { body } = await get('/incidents?limit=1');
    expect(body.incidents).toEqual([
      expect.objectContaining({
        digest: '00000001',
        kind: 'exception',
        title: 'Error: number 1',
        place: { route: '/odd' },
        status: { state: 'open' },
        counts: { server: 1, browser: 0 },
        chart: expect.objectContaining({ step: Hour }),
        firstRelease: 'v1',
        lastRelease: 'v1',
      }),
    ]);
    expect(body.totals).toEqual({ open: 9, resolved: 0, ignored: 0 });
    expect(body.arriving).toEqual({ count: 0, hasMore: false });
    expect((await get('/incidents?limit=1&span=14d')).body.incidents[0].chart.step).toBe(Day);
  });

  it('says how many failures have not arrived yet, even if the client has the rest of the list', async () => {
    const api = await startDeskApi({ arriving: { count: 7, hasMore: true } });
    const { body, headers } = await api.get('/incidents');
    expect(body.arriving).toEqual({ count: 7, hasMore: true });
    const { get } = await startDeskApi();
    const known = { headers: { 'If-None-Match': String(headers.etag) } };
    expect((await get('/incidents', known)).status).toBe(200);
  });

  it.each([
    ['', '123456789'],
    ['sort=count', '987654321'],
    ['sort=first', '123456789'],
    ['route=/even', '2468'],
    ['release=v2', '789'],
    ['environment=staging', ''],
    ['side=browser', '3'],
    ['kind=timeout', '4'],
    ['assignee=-', '123456789'],
    ['assignee=ada', '5'],
    ['state=resolved', ''],
    ['state=all&search=number%207', '7'],
    ['route=/odd&release=v2', '79'],
    ['within=1h', '123456789'],
    [`from=${NOW + Day}`, ''],
    [`to=${NOW - Day}`, ''],
  ])('filters by %j', async (search, digests) => {
    const api = await start();
    await api.site.store.changeIncident('00000005', { assignee: 'ada' }, { author: 'ada' });
    const expected = search === 'assignee=-' ? digests.replace('5', '') : digests;
    expect(digestsOf(await api.get(`/incidents?${search}`))).toBe(expected);
  });

  it('continues after the last page, even if new incidents arrive', async () => {
    const { get, site } = await start();
    let seen = '';
    let after = '';
    do {
      const reply = await get(`/incidents?limit=4${after && `&after=${after}`}`);
      seen += digestsOf(reply);
      after = reply.body.next ?? '';
      await ingest(site.store, summaryOf({ digest: '0000000A', at: Date.now() }));
    } while (after !== '');
    expect(seen).toBe('123456789');
  });

  it.each([
    ['state=gone', { state: expect.stringContaining('resolved') }],
    ['sort=name&limit=0', { sort: expect.any(String), limit: expect.any(String) }],
    ['limit=101', { limit: expect.any(String) }],
    ['limit=1.5', { limit: expect.any(String) }],
    ['after=x', { after: expect.stringContaining('Omit it') }],
    ['page=2', { page: 'Unknown field.' }],
    ['route=/a&route=/b', { route: 'Send it only once.' }],
    ['search=', { search: expect.any(String) }],
    ['from=yesterday', { from: expect.any(String) }],
  ])('names the error in %j', async (search, errors) => {
    const { get } = await start();
    const reply = await get(`/incidents?${search}`);
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      detail: 'The query is not valid.',
      errors,
    });
  });

  it('accepts only a cursor with the same sort order', async () => {
    const { get } = await start();
    const { next } = (await get('/incidents?limit=1')).body;
    expect((await get(`/incidents?limit=1&after=${next}`)).status).toBe(200);
    expect((await get(`/incidents?limit=1&after=${next}&sort=count`)).status).toBe(400);
  });

  it('answers 304 if nothing has changed', async () => {
    const { get, site } = await start();
    const { etag } = (await get('/incidents')).headers;
    const headers = { 'If-None-Match': String(etag) };
    const { listIncidents } = site.store;
    Object.assign(site.store, { listIncidents: () => Promise.reject(new Error('It was asked.')) });
    expect((await get('/incidents', { headers })).status).toBe(304);
    Object.assign(site.store, { listIncidents });
    await ingest(site.store, summaryOf({ digest: '00000001' }));
    expect((await get('/incidents', { headers })).status).toBe(200);
  });

  it('can only be cached by the caller', async () => {
    const { get } = await start();
    const { headers } = await get('/incidents', { token: VERA.token });
    expect(headers['cache-control']).toBe('private, no-cache');
    expect(headers.vary).toContain('Authorization');
    expect(headers['x-robots-tag']).toBe('noindex, nofollow');
  });
});

describe('find', () => {
  it('finds a digest in any spelling, an address and a request id', async () => {
    const { get, site } = await start();
    await ingest(site.store, fullOf({ digest: '7K3QM2XA', occurrence: '9F4W0R6B', requestId: 'request-0815' }));
    const address = { digest: '7K3QM2XA', environment: 'test', occurrence: '9F4W0R6B' };
    expect((await get('/find?text=7k3q-m2xa')).body).toEqual({ digest: '7K3QM2XA', environment: 'test' });
    expect((await get('/find?text=7K3QM2XA-9F4W0R6B')).body).toEqual(address);
    expect((await get('/find?text=request-0815')).body).toEqual(address);
    expect((await get('/find?text=number')).status).toBe(404);
  });
});
