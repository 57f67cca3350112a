import { expect, it } from 'vitest';
import { insertRows } from '../../../../src/desk/server/store/sql.ts';
import type { Store } from '../../../../src/desk/server/store/store.ts';
import { Day, Hour } from '../../../../src/shared/units.ts';
import { describeStores, fullOf, ingest, retain, summaryOf, thisHour } from '../../support/stores.ts';

const KEY = '7K3QM2XA@production';
const noise = () => Array.from({ length: 400 }, () => Math.random().toString(36)).join('');
const nameOf = (index: number) => String(index).padStart(8, '0');
const listOccurrences = async (store: Store) =>
  (await store.occurrences.listOccurrences(KEY, { limit: 1000 })).occurrences;

describeStores('retention', (open) => {
  it('deletes occurrences, hours, releases and revalidations by age, and keeps the counts', async () => {
    const { store, driver } = await open();
    await store.journals.ingest({ occurrences: [], revalidations: ['/old', '/new'] });
    await driver.run("UPDATE desk_revalidations SET at = at - ? WHERE path = '/old'", [Hour]);
    const old = { at: thisHour - 91 * Day, visitor: 'a', release: 'v0', build: 'v0' };
    await ingest(store, fullOf(old), fullOf({ at: thisHour, visitor: 'b' }));
    await retain(store);
    expect(await listOccurrences(store)).toMatchObject([{ at: thisHour }]);
    expect(await store.incidents.listReleases(KEY)).toMatchObject([{ release: 'v1' }]);
    expect(await driver.all('SELECT hour FROM desk_hours')).toEqual([{ hour: thisHour }]);
    expect(await driver.all('SELECT path FROM desk_revalidations')).toEqual([{ path: '/new' }]);
    expect((await store.finder.find({ digest: '7K3QM2XA' }))?.incident).toMatchObject({
      counts: { server: 2 },
      visitors: 1,
    });
  });

  it('deletes by age or size what an incident shows of visitors', async () => {
    const { store } = await open();
    const message = 'No order of Ada Lovelace';
    const request = { method: 'GET', url: '/orders?q=ada+lovelace', headers: { 'user-agent': "Ada's browser" } };
    const sent = (at: number) =>
      fullOf({ at, title: `Error: ${message}`, errors: [{ class: 'Error', message, frames: [] }], request });
    const list = (search: string) => store.list.listIncidents({ environment: 'production', search, limit: 9 });
    await ingest(store, sent(thisHour - 91 * Day));
    expect((await list('lovelace')).incidents).toHaveLength(1);
    await retain(store);
    const listed = (await list('7k3qm2xa')).incidents;
    expect(listed).toMatchObject([{ digest: '7K3QM2XA', kind: 'exception', title: 'exception', message: '' }]);
    expect(JSON.stringify(listed)).not.toContain('Ada');
    for (const word of ['lovelace', 'ada']) expect((await list(word)).incidents).toEqual([]);

    await ingest(store, sent(thisHour));
    expect((await list('lovelace')).incidents).toMatchObject([{ title: `Error: ${message}` }]);
    while ((await retain(store, { maxBytes: 1 })).deletedForSize > 0);
    expect((await list('lovelace')).incidents).toEqual([]);
  });

  it('makes room: browser records and made-up incidents before server records, the oldest first', async () => {
    const { store } = await open();
    const sent = (count: number, side: 'server' | 'browser') =>
      Array.from({ length: count }, (_, index) =>
        fullOf({ at: thisHour + index, side, visitor: `${index}`, extra: { noise: noise() } }),
      );
    await ingest(store, ...sent(60, 'browser'), ...sent(90, 'server'));
    const madeUp = Array.from({ length: 300 }, (_, index) =>
      fullOf({ digest: nameOf(index), side: 'browser', at: thisHour + index, title: noise() }),
    );
    await ingest(store, ...madeUp);
    await store.history.addNote(`${nameOf(0)}@production`, 'I am working on this.', 'ada');
    const { bytes } = await retain(store);
    expect((await retain(store, { maxBytes: bytes })).deletedForSize).toBe(0);

    const limit = { maxBytes: bytes * 0.75 };
    expect((await retain(store, limit)).bytes / bytes).toBeGreaterThan(0.6);
    expect((await retain(store, limit)).deletedForSize).toBe(0);
    const full = async (side: string) =>
      (await listOccurrences(store)).filter((one) => one.isFull && one.side === side);
    expect(await full('server')).toHaveLength(90);
    expect((await full('browser')).length).toBeLessThan(60);

    // The sizes of rows are estimates, so one run may delete too little.
    while ((await retain(store, { maxBytes: 20_000 })).deletedForSize > 0);
    const left = await listOccurrences(store);
    expect(left.length).toBeLessThan(90);
    expect(left.every(({ side, isFull }) => side === 'server' && !isFull)).toBe(true);
    expect((await store.finder.find({ digest: '7K3QM2XA' }))?.incident).toMatchObject({
      counts: { server: 90, browser: 60 },
      visitors: left.length,
    });
    expect(await store.finder.find({ digest: nameOf(0) })).toBeDefined();
    expect(await store.finder.find({ digest: nameOf(1) })).toBeUndefined();
  });

  it('makes room: addresses of reports before records of servers', async () => {
    const { store, driver } = await open();
    await ingest(store, ...Array.from({ length: 20 }, () => fullOf({ at: thisHour, extra: { noise: noise() } })));
    const rows = Array.from({ length: 5000 }, (_, index) => ({
      ...{ key: `${nameOf(index)}@production`, occurrence: nameOf(index) },
      ...{ target_key: 'ZZZZZZZZ@production', target_occurrence: nameOf(index), reason: 'resolved', at: thisHour },
    }));
    await insertRows(driver, 'desk_aliases', rows);
    const { bytes } = await retain(store);
    await retain(store, { maxBytes: bytes * 0.8 });
    expect((await listOccurrences(store)).filter(({ isFull }) => isFull)).toHaveLength(20);
    expect((await driver.all('SELECT 1 FROM desk_aliases')).length).toBeLessThan(5000);
  });

  it('deletes the marks of builds by age, except for the latest and those in which incidents happened', async () => {
    const { store, driver } = await open();
    for (const id of ['quiet', 'failed', 'running', 'latest']) await store.builds.useBuild({ id, release: id });
    await ingest(store, fullOf({ release: 'failed', build: 'failed' }));
    await driver.run("UPDATE desk_deployments SET first_at = first_at + 1000 WHERE build = 'latest'");
    await driver.run('UPDATE desk_builds SET used_at = used_at - ?', [91 * Day]);
    await retain(store, { build: 'running' });
    const left = ['failed', 'latest', 'running'];
    expect((await store.builds.listDeployments('production')).map(({ id }) => id).sort()).toEqual(left);
    expect((await store.builds.listBuilds()).map(({ id }) => id).sort()).toEqual(left);
  });

  it('deletes the salts from before yesterday and expired sessions', async () => {
    const { store, driver } = await open();
    const today = Math.floor(Date.now() / Day);
    await store.visitors.readSalts([0, today].map((day) => ({ day, salt: `salt ${day}` })));
    await driver.run('UPDATE desk_salts SET day = day - 2 WHERE day > 0');
    await store.sessions.storeSession('1', 0);
    await retain(store);
    expect((await store.visitors.readSalts([])).map(({ day }) => day)).toEqual([0]);
    expect(await driver.all('SELECT 1 FROM desk_sessions')).toEqual([]);
  });

  it('keeps the position of a live process, even one that stored nothing for long', async () => {
    const { store, driver } = await open();
    const at = { segment: 3, offset: 700 };
    for (const process of ['alive', 'ended', 'unknown']) {
      await store.journals.ingest({
        occurrences: [summaryOf()],
        from: { process, start: { segment: 0, offset: 0 }, next: at },
      });
    }
    const state = { inFlight: [], memory: 1, heap: { used: 1, limit: 2 }, blockedMs: 0 };
    for (const id of ['alive', 'ended']) {
      const start = { id, build: 'b', release: 'v1', environment: 'production', startedAt: 1 };
      await store.processes.storeHeartbeat(start, state);
    }
    await store.processes.storeEnd('ended');
    await driver.run('UPDATE desk_journals SET at = at - ?', [91 * Day]);
    await retain(store);
    const positions = await Promise.all(['alive', 'ended', 'unknown'].map((id) => store.journals.readPosition(id)));
    expect(positions).toEqual([at, { segment: 0, offset: 0 }, { segment: 0, offset: 0 }]);
  });
});
