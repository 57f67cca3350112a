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

  it('returns the same incident, notes and occurrences', async () => {
    const { ask, get } = await start();
    const note = (await ask('post', `${PATH}/notes`, { body: { text: 'It is the cache.' } })).body;
    expect((await get(PATH)).body.changes).toMatchObject([{ note: { id: note.id, text: 'It is the cache.' } }]);
    expect((await get(`${PATH}/notes`)).body.notes).toEqual([note]);
    const { occurrences } = (await get(`${PATH}/occurrences`)).body;
    expect(occurrences).toMatchObject([{ occurrence: '9F4W0R6B', isFull: true }]);
    expect((await get('/incidents?search=boom')).body.totals).toEqual({ open: 1, resolved: 0, ignored: 0 });
    expect((await ask('delete', `/notes/${note.id}`)).status).toBe(204);
    expect((await ask('delete', '/notes/9007199254740991')).status).toBe(404);
  });
});
