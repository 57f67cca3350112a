import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { Hour } from '../../../../src/shared/units.ts';
import { startDeskApi, fullWithSource } from '../../../support/desk-api.ts';
import { ADA } from '../../../support/people.ts';
import { ingest, summaryOf, fullOf } from '../../../support/stores.ts';

const DIGEST = '7K3QM2XA';
const OTHER = '2M3KQ7XA';
const PATH = `/incidents/${DIGEST}`;

async function start() {
  const api = await startDeskApi();
  await ingest(api.site.store, fullWithSource(), summaryOf({ digest: OTHER, title: 'Other' }));
  const patch = (body: object, ifMatch?: string) =>
    api.calls.patch(PATH, { body, ...(ifMatch !== undefined && { headers: { 'If-Match': ifMatch } }) });
  return { ...api, patch, tag: async () => String((await api.get(PATH)).headers.etag) };
}

describe('an incident', () => {
  it('is returned with its details, down to the source line', async () => {
    const { get } = await start();
    const { body } = await get(PATH);
    expect(body).toMatchObject({
      digest: DIGEST,
      place: { file: 'src/server/product/pages/cart.ts', line: 2, function: 'loadCart' },
      status: { state: 'open' },
      counts: { server: 1, browser: 0 },
      releases: [{ release: 'v1', count: 1 }],
      recent: [{ occurrence: '9F4W0R6B' }],
      latest: {
        occurrence: '9F4W0R6B',
        full: {
          request: { method: 'GET', url: '/orders/7', agent: { words: 'curl 8.4' } },
          breadcrumbs: [{ message: 'GET /carts/7', data: [['status', '200']] }],
          errors: [
            {
              frames: [
                {
                  file: 'src/server/product/pages/cart.ts',
                  line: 2,
                  source: { start: 1, lines: expect.arrayContaining(['  return cart.order.total; // here']) },
                },
              ],
            },
          ],
        },
      },
    });
  });

  it('has a test that fails as its latest occurrence, or as another one', async () => {
    const { get } = await start();
    const { status, body } = await get(`${PATH}/test`);
    expect(status).toBe(200);
    expect(body.file).toBe(`tests/product/failures/${DIGEST}.test.ts`);
    expect(body.text).toContain("await request(app).get('/orders/7')");
    expect((await get(`${PATH}/test?occurrence=9F4W0R6B`)).body).toEqual(body);
    expect((await get(`/incidents/${OTHER}/test`)).body.detail).toContain('A test cannot be written');
    expect((await get('/incidents/00000000/test')).status).toBe(404);
  });

  it('is found by every spelling of its digest', async () => {
    const { get } = await start();
    for (const spelt of ['7k3qm2xa', '7K3Q-M2XA']) expect((await get(`/incidents/${spelt}`)).body.digest).toBe(DIGEST);
    for (const none of ['x', '7K3QM2XA9F4W0R6B', '%20']) expect((await get(`/incidents/${none}`)).status).toBe(404);
  });

  it('gets a new ETag with every occurrence, and a change that sends the old one is still accepted', async () => {
    const { site, tag, patch } = await start();
    const before = await tag();
    expect(before).toMatch(/^"\d+\.[\w-]{16}"$/);
    expect(await tag()).toBe(before);
    await ingest(site.store, summaryOf());
    expect(await tag()).not.toBe(before);
    expect((await patch({ assignee: 'ada' }, before)).status).toBe(200);
  });

  it('answers HEAD like GET, without a body', async () => {
    const { site, tag } = await start();
    const reply = await request(site.app).head(`/api/desk${PATH}`).set('Authorization', `Bearer ${ADA.token}`);
    expect(reply.status).toBe(200);
    expect(reply.headers.etag).toBe(await tag());
  });
});

describe('a change', () => {
  it.each([
    [{ state: 'resolved' }, { state: 'resolved' }],
    [
      { state: 'resolved', in: 'next' },
      { state: 'resolved', isForNext: true },
    ],
    [{ state: 'ignored' }, { state: 'ignored' }],
    [
      { state: 'ignored', until: 4e12 },
      { state: 'ignored', ignoredUntil: 4e12 },
    ],
    [
      { state: 'ignored', untilMore: 25 },
      { state: 'ignored', ignoredUntilMore: 25 },
    ],
    [{ state: 'open' }, { state: 'open' }],
  ])('to %j is stored with its author', async (status, told) => {
    const { get, patch } = await start();
    const reply = await patch({ status });
    expect(reply.status).toBe(200);
    const now = { ...told, changedBy: 'ada', changedAt: expect.any(Number) };
    expect(reply.body.incident.status).toEqual(now);
    expect((await get(PATH)).body.status).toEqual(now);
  });

  it('assigns the incident, and unassigns it', async () => {
    const { patch } = await start();
    expect((await patch({ assignee: ' vera ' })).body.incident.assignee).toBe('vera');
    expect((await patch({ assignee: null })).body.incident).not.toHaveProperty('assignee');
  });

  it('without If-Match overwrites, and returns the replaced values', async () => {
    const { patch } = await start();
    await patch({ status: { state: 'resolved' }, assignee: 'vera' });
    const { body } = await patch({ status: { state: 'ignored' } });
    expect(body.replaced).toMatchObject({ status: { state: 'resolved', changedBy: 'ada' }, assignee: 'vera' });
    expect(body.incident.status.state).toBe('ignored');
  });

  it('returns an ETag for the next request', async () => {
    const { get, patch, tag } = await start();
    const first = await patch({ status: { state: 'resolved' } }, await tag());
    const { etag } = first.headers;
    expect((await get(PATH, { headers: { 'If-None-Match': String(etag) } })).status).toBe(304);
    expect((await patch({ assignee: 'ada' }, String(etag))).status).toBe(200);
    const refused = await patch({ assignee: 'vera' }, String(etag));
    expect(refused.status).toBe(412);
    expect(refused.body.detail).toMatch(
      /^The incident was changed in the meantime: resolved, assigned to ada, last by ada at /,
    );
  });

  it.each([
    ['*', 200],
    ['"9.x", CURRENT', 200],
    ['W/CURRENT', 412],
    ['"9.x"', 412],
    ['"other"', 412],
    ['CURRENT_UNQUOTED', 400],
  ])('with If-Match: %s is answered with %d', async (ifMatch, status) => {
    const { patch, tag } = await start();
    const current = await tag();
    const sent = ifMatch.replace('CURRENT_UNQUOTED', current.slice(1, -1)).replace('CURRENT', current);
    expect((await patch({ assignee: 'ada' }, sent)).status).toBe(status);
  });

  it.each([
    [{}, { '': expect.stringContaining('Send a status') }],
    [{ state: 'open' }, { state: 'Unknown field.', '': expect.any(String) }],
    [{ status: 'open' }, { status: expect.any(String) }],
    [{ status: { state: 'gone' } }, { 'status.state': expect.any(String) }],
    [{ status: { state: 'open', in: 'next' } }, { 'status.in': 'Unknown field.' }],
    [{ status: { state: 'ignored', until: Date.now() - Hour } }, { 'status.until': 'This time is in the past.' }],
    [{ status: { state: 'ignored', untilMore: 0 } }, { 'status.untilMore': expect.any(String) }],
    [{ assignee: '' }, { assignee: expect.any(String) }],
    [[], { '': expect.any(String) }],
  ])('of %j is rejected by field', async (body, errors) => {
    const { patch, get } = await start();
    const reply = await patch(body);
    expect(reply.status).toBe(422);
    expect(reply.body.errors).toEqual(errors);
    expect((await get(PATH)).body.version).toBe('0');
  });
});

describe('merging', () => {
  it('moves one incident into another, and unmerge separates them', async () => {
    const { ask, get } = await start();
    const merged = await ask('post', `/incidents/${OTHER}/merge`, { body: { into: '7k3q-m2xa' } });
    expect(merged.body).toMatchObject({ digest: DIGEST, merged: [OTHER], counts: { server: 2 } });
    const led = await get(`/incidents/${OTHER}`);
    expect(led.headers['content-location']).toBe(`/api/desk${PATH}?environment=test`);
    expect(led.body.digest).toBe(DIGEST);
    const apart = await ask('post', `/incidents/${OTHER}/separate`);
    expect(apart.body).toMatchObject({ digest: OTHER, counts: { server: 1 } });
    expect((await get(PATH)).body.merged).toEqual([]);
  });

  it('is refused, like unmerging, if one of the incidents has changed since', async () => {
    const { ask, get } = await start();
    const tagOf = async (digest: string) => ({ 'If-Match': String((await get(`/incidents/${digest}`)).headers.etag) });
    const merge = (headers: Record<string, string>) =>
      ask('post', `/incidents/${OTHER}/merge`, { body: { into: DIGEST }, headers });
    const separate = (headers: Record<string, string>) => ask('post', `/incidents/${OTHER}/separate`, { headers });

    const stale = await tagOf(OTHER);
    await ask('patch', `/incidents/${OTHER}`, { body: { assignee: 'vera' } });
    expect((await merge(stale)).status).toBe(412);
    expect((await merge(await tagOf(OTHER))).status).toBe(200);
    expect((await separate(stale)).status).toBe(412);
    expect((await separate(await tagOf(OTHER))).status).toBe(200);
  });

  it('makes every digest of the incident change and delete it', async () => {
    const { ask, get } = await start();
    await ask('post', `/incidents/${OTHER}/merge`, { body: { into: DIGEST } });
    const reply = await ask('patch', `/incidents/${OTHER}`, { body: { assignee: 'ada' } });
    expect(reply.body.incident).toMatchObject({ digest: DIGEST, assignee: 'ada' });
    expect((await ask('delete', `/incidents/${OTHER}`)).status).toBe(204);
    expect((await get(PATH)).status).toBe(404);
  });
});

describe('deleting', () => {
  it('is refused if the incident has changed since', async () => {
    const { ask, get, patch, tag } = await start();
    const headers = { 'If-Match': await tag() };
    await patch({ assignee: 'vera' });
    expect((await ask('delete', PATH, { headers })).status).toBe(412);
    expect((await ask('delete', PATH, { headers: { 'If-Match': await tag() } })).status).toBe(204);
    expect(await get(PATH)).toMatchObject({ status: 404, body: { detail: expect.stringContaining('deleted by ada') } });
  });
});

describe('occurrences', () => {
  it('are listed in pages, and each says whether its full record is stored', async () => {
    const { get, site } = await start();
    for (let index = 0; index < 6; index++) await ingest(site.store, summaryOf({ at: Date.now() - index }));
    const seen: { occurrence: string; isWhole: boolean }[] = [];
    let after: string | undefined;
    do {
      const { body } = await get(`${PATH}/occurrences?limit=3${after ? `&after=${after}` : ''}`);
      seen.push(...body.occurrences);
      after = body.next;
    } while (after !== undefined);
    expect(new Set(seen.map(({ occurrence }) => occurrence)).size).toBe(7);
    expect(seen.filter(({ isWhole }) => isWhole)).toMatchObject([{ occurrence: '9F4W0R6B' }]);
  });

  it('are returned one by one, with the ids of their neighbours', async () => {
    const { get, site } = await start();
    await ingest(site.store, summaryOf({ occurrence: '00000001', at: Date.now() - Hour }));
    const { body } = await get(`${PATH}/occurrences/9f4w-0r6b`);
    expect(body).toMatchObject({
      digest: DIGEST,
      occurrence: '9F4W0R6B',
      older: '00000001',
      full: { level: 'warning', tags: [['plan', 'business']] },
    });
    const thin = (await get(`${PATH}/occurrences/00000001`)).body;
    expect(thin).toMatchObject({ occurrence: '00000001', newer: '9F4W0R6B' });
    expect(thin).not.toHaveProperty('whole');
  });

  it('can be deleted one by one, and still count', async () => {
    const { ask, get } = await start();
    const path = `${PATH}/occurrences/9F4W0R6B`;
    expect((await ask('delete', path)).status).toBe(204);
    expect((await get(path)).status).toBe(404);
    expect((await get(PATH)).body).toMatchObject({ counts: { server: 1 }, changes: [{ by: 'ada' }] });
  });
});

describe('notes', () => {
  it('are created, listed and deleted', async () => {
    const { ask, get } = await start();
    const { body, headers } = await ask('post', `${PATH}/notes`, { body: { text: ' It is the cache. ' } });
    expect(body).toEqual({ id: expect.any(Number), at: expect.any(Number), by: 'ada', text: 'It is the cache.' });
    expect((await get(`${PATH}/notes`)).body.notes).toEqual([body]);
    const path = String(headers.location).replace('/api/desk', '');
    expect((await ask('delete', path)).status).toBe(204);
    expect((await ask('delete', path)).status).toBe(404);
    expect((await get(`${PATH}/notes`)).body.notes).toEqual([]);
  });

  it('have the same maximum length as on the page', async () => {
    const { ask } = await start();
    const write = (length: number) => ask('post', `${PATH}/notes`, { body: { text: 'x'.repeat(length) } });
    expect((await write(4096)).status).toBe(201);
    expect((await write(4097)).body.errors).toEqual({ text: expect.stringContaining('4096') });
  });
});

describe('visitor feedback', () => {
  it('is listed and deleted', async () => {
    const { ask, get, site } = await start();
    const feedback = { id: 'f0', address: `${DIGEST}-9F4W0R6B`, text: 'It broke.', at: 1, email: 'g@example.org' };
    await ingest(site.store, { entry: 'feedback', feedback });
    const { address: _address, ...told } = feedback;
    expect((await get(`${PATH}/feedback`)).body).toEqual({ feedback: [told] });
    expect((await ask('delete', `${PATH}/feedback/f1`)).status).toBe(404);
    expect((await ask('delete', `${PATH}/feedback/f0`)).status).toBe(204);
    expect((await get(`${PATH}/feedback`)).body).toEqual({ feedback: [] });
  });
});

describe('builds', () => {
  it('are listed with their releases', async () => {
    const { get, site } = await start();
    await site.store.useBuild({ id: 'build-1', release: 'v1' });
    expect((await get('/builds')).body).toEqual({
      builds: [{ build: 'build-1', release: 'v1', firstAt: expect.any(Number) }],
    });
  });
});

describe('text from strangers', () => {
  it('is sent as JSON only', async () => {
    const { get, site } = await start();
    const evil = '<script>alert(1)</script>';
    await ingest(site.store, fullOf({ digest: '00000009', title: evil }));
    const reply = await get('/incidents/00000009');
    expect(reply.body.title).toBe(evil);
    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(reply.headers['x-content-type-options']).toBe('nosniff');
    expect(reply.headers['content-security-policy']).toContain("default-src 'none'");
  });
});
