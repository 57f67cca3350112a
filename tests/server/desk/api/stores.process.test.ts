import { expect, it } from 'vitest';
import { fullWithSource, startDeskApi } from '../../../support/desk-api.ts';
import { describeStores, ingest } from '../../../support/stores.ts';

const PATH = '/incidents/7K3QM2XA';

describeStores('the desk’s API', (open) => {
  async function start() {
    const api = await startDeskApi({ driver: (await open()).driver });
    await ingest(api.site.store, fullWithSource());
    return api;
  }

  it('makes one of several changes based on the same version, and refuses the others', async () => {
    const { ask, get } = await start();
    const headers = { 'If-Match': String((await get(PATH)).headers.etag) };
    const states = ['resolved', 'ignored', 'open'];
    const replies = await Promise.all(
      states.map((state) => ask('patch', PATH, { body: { status: { state } }, headers })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
    expect((await get(PATH)).body).toMatchObject({ version: '1', changes: [{ by: 'ada' }] });
  });

  it('returns the same incident and occurrences', async () => {
    const { get } = await start();
    expect((await get(PATH)).body).toMatchObject({
      counts: { server: 1, browser: 0 },
      shown: { occurrence: '9F4W0R6B' },
    });
    const { occurrences } = (await get(`${PATH}/occurrences`)).body;
    expect(occurrences).toMatchObject([{ occurrence: '9F4W0R6B', isFull: true }]);
    expect((await get('/incidents?search=boom')).body.totals).toEqual({ open: 1, resolved: 0, ignored: 0 });
  });
});
