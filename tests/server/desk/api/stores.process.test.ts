import { expect, it } from 'vitest';
import { readLines, startDeskApi, fullWithSource } from '../../../support/desk-api.ts';
import { describeStores, ingest, summaryOf } from '../../../support/stores.ts';

const PATH = '/incidents/7K3QM2XA';

describeStores('the desk’s API', (open) => {
  async function start() {
    const api = await startDeskApi({ driver: (await open()).driver });
    await ingest(api.site.store, fullWithSource(), summaryOf({ digest: '00000002' }));
    return api;
  }

  it('makes one of two changes based on the same version, and refuses the other', async () => {
    const { ask, get } = await start();
    const headers = { 'If-Match': String((await get(PATH)).headers.etag) };
    const changes = [{ status: { state: 'resolved' } }, { status: { state: 'ignored' } }, { assignee: 'vera' }];
    const replies = await Promise.all(changes.map((body) => ask('patch', PATH, { body, headers })));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
    const { body } = await get(PATH);
    expect(body.version).toBe('1');
    expect(body.changes).toHaveLength(1);
  });

  it('returns the same incident, notes, occurrences and builds', async () => {
    const { ask, get, site } = await start();
    await site.store.useBuild({ id: 'build-1', release: 'v1' });
    const note = (await ask('post', `${PATH}/notes`, { body: { text: 'It is the cache.' } })).body;
    expect(note.id).toBeGreaterThan(0);
    expect((await get(PATH)).body.changes).toMatchObject([{ note: { id: note.id, text: 'It is the cache.' } }]);
    expect((await get(`${PATH}/notes`)).body.notes).toEqual([note]);
    expect((await get(`${PATH}/occurrences`)).body.occurrences).toMatchObject([
      { occurrence: '9F4W0R6B', isWhole: true },
    ]);
    expect((await get('/builds')).body.builds).toHaveLength(1);
    expect((await get('/incidents?search=boom')).body.totals).toEqual({ open: 1, resolved: 0, ignored: 0 });
    expect((await ask('delete', `/notes/${note.id}`)).status).toBe(204);
    expect((await ask('delete', '/notes/9007199254740991')).status).toBe(404);
  });

  it('exports the same lines', async () => {
    const { get } = await start();
    const lines = readLines(await get('/export?occurrences=whole'));
    expect(lines.at(-1)).toEqual({ type: 'end', incidents: 2, occurrences: 2 });
  });
});
