import { describe, expect, it } from 'vitest';
import { openSqlite } from '../../../src/server/desk/store/sqlite.ts';
import { openStore } from '../../../src/server/desk/store/store.ts';
import { startDeskApi } from '../../support/desk-api.ts';
import { startDeskSite } from '../../support/desk-site.ts';
import { ingest, fullOf } from '../../support/stores.ts';
import { createTestLog } from '../../support/test-log.ts';

const BOTH = '7K3QM2XA';
const ONLY_STAGING = '2M3KQ7XA';
const OF_STAGING = '9F4W0R6B';

/** A desk for the environment `test`, on a store that it shares with `staging`. */
async function start<Site>(startSite: (options: { driver: ReturnType<typeof openSqlite> }) => Promise<Site>) {
  const driver = openSqlite(':memory:', { log: createTestLog().log });
  const site = await startSite({ driver });
  const staging = await openStore(driver, { environment: 'staging' });
  await staging.ingest({
    entries: [
      fullOf({ digest: BOTH, occurrence: OF_STAGING, title: 'TypeError: seen in staging' }),
      fullOf({ digest: ONLY_STAGING }),
    ],
  });
  return { site, staging };
}

describe('a desk shared by several environments', () => {
  async function open() {
    const { site, staging } = await start(startDeskSite);
    await ingest(site.store, fullOf({ digest: BOTH, title: 'TypeError: seen in test' }));
    const cookie = await site.enter();
    const show = (path: string) => site.get(path, cookie);
    return { site, staging, cookie, show };
  }

  it('lists one environment at a time and links to the others', async () => {
    const { show } = await open();
    const own = (await show('/desk')).text;
    expect(own).toContain('seen in test');
    expect(own).not.toContain('seen in staging');
    expect(own).not.toContain(ONLY_STAGING);
    expect(own).toContain('href="/desk?environment=staging"');
    const other = (await show('/desk?environment=staging')).text;
    expect(other).toContain(`href="/desk/${BOTH}?environment=staging"`);
    expect(other).toContain(`href="/desk/${ONLY_STAGING}?environment=staging"`);
    expect(other).not.toContain('seen in test');
  });

  it('redirects an address to the environment that has it', async () => {
    const { show } = await open();
    const to = async (path: string) => (await show(path)).headers.location;
    expect(await to(`/desk/${BOTH}-${OF_STAGING}`)).toBe(`/desk/${BOTH}/${OF_STAGING}?environment=staging`);
    expect(await to(`/desk/${ONLY_STAGING}`)).toBe(`/desk/${ONLY_STAGING}?environment=staging`);
    expect(await to(`/desk?search=${BOTH}-${OF_STAGING}`)).toBe(`/desk/${BOTH}/${OF_STAGING}?environment=staging`);
    const own = await show(`/desk/${BOTH}`);
    expect([own.status, own.text.includes('seen in test')]).toEqual([200, true]);
    expect(own.text).toContain(`href="/desk/${BOTH}?environment=staging"`); // the incident was also seen in staging
    expect((await show(`/desk/${ONLY_STAGING}?environment=test`)).status).toBe(404);
  });

  it('changes only the environment that its page shows', async () => {
    const { site, show, cookie } = await open();
    const states = async () =>
      Promise.all(['test', 'staging'].map(async (of) => (await site.store.find({ digest: BOTH }, of))?.incident.state));
    await site.post(`/desk/${BOTH}?environment=staging`, { _action: 'incident.resolve' }, cookie);
    expect(await states()).toEqual(['open', 'resolved']);
    await site.post('/desk', { _action: 'incidents.ignore', digest: BOTH }, cookie);
    expect(await states()).toEqual(['ignored', 'resolved']);
    await site.post('/desk?environment=staging', { _action: 'incidents.reopen', digest: BOTH }, cookie);
    expect(await states()).toEqual(['ignored', 'open']);
    const gone = await site.post(`/desk/${BOTH}?environment=staging`, { _action: 'incident.remove' }, cookie);
    expect(gone.headers.location).toBe('/desk?environment=staging');
    expect((await show(`/desk/${BOTH}`)).status).toBe(200);
  });
});

describe('the API of a shared desk', () => {
  async function open() {
    const { site: api, staging } = await start(startDeskApi);
    await ingest(api.site.store, fullOf({ digest: BOTH }));
    return { ...api, staging };
  }

  it("answers for its server's environment unless the request names another", async () => {
    const { get } = await open();
    const own = (await get('/incidents')).body;
    expect([own.environment, own.environments]).toEqual(['test', ['staging', 'test']]);
    expect(own.incidents.map(({ digest }: { digest: string }) => digest)).toEqual([BOTH]);
    const other = (await get('/incidents?environment=staging')).body;
    expect([other.environment, other.incidents.length]).toEqual(['staging', 2]);
    expect((await get(`/incidents/${BOTH}`)).body.environment).toBe('test');
    expect((await get(`/incidents/${BOTH}?environment=staging`)).body.environment).toBe('staging');
    // Without an environment, finds a digest that only another environment has.
    expect((await get(`/incidents/${ONLY_STAGING}`)).body.environment).toBe('staging');
    expect((await get(`/incidents/${ONLY_STAGING}?environment=test`)).status).toBe(404);
    expect((await get(`/incidents/${BOTH}/occurrences/${OF_STAGING}`)).body.environment).toBe('staging');
    expect((await get(`/find?text=${ONLY_STAGING}`)).body).toEqual({ digest: ONLY_STAGING, environment: 'staging' });
  });

  it('changes the environment that the request names', async () => {
    const { ask, get } = await open();
    const body = { status: { state: 'resolved' } };
    await ask('patch', `/incidents/${BOTH}?environment=staging`, { body });
    const read = async (search: string) => (await get(`/incidents/${BOTH}${search}`)).body.status.state;
    expect([await read(''), await read('?environment=staging')]).toEqual(['open', 'resolved']);
    await ask('post', `/incidents/${BOTH}/notes?environment=staging`, { body: { text: 'Mended.' } });
    expect((await get(`/incidents/${BOTH}/notes`)).body.notes).toEqual([]);
    expect((await get(`/incidents/${BOTH}/notes?environment=staging`)).body.notes).toHaveLength(1);
    const lines = (await get('/export?environment=staging&occurrences=brief')).text;
    expect(lines).toContain('"environment":"staging"');
    expect(lines).not.toContain('"environment":"test"');
  });
});
