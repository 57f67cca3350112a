import { expect, it } from 'vitest';
import type { Intake } from '../../../../src/server/desk/store/ingest/tally.ts';
import { BUILD_TABLES, TABLE_GROUPS } from '../../../../src/server/desk/store/table-sizes.ts';
import type { SqlDriver } from '../../../../src/server/desk/store/sql.ts';
import type { Store } from '../../../../src/server/desk/store/store.ts';
import { Day, Hour, MiB, Minute } from '../../../../src/shared/units.ts';
import { describeStores, ingest, retain, summaryOf, thisHour, fullOf } from '../../../support/stores.ts';

const DIGEST = '7K3QM2XA';
const noise = () => Array.from({ length: 400 }, () => Math.random().toString(36)).join('');
const nameOf = (index: number) => String(index).padStart(8, '0');

/** Returns the stored bytes, without the files of builds. */
async function measure(store: Store): Promise<number> {
  const { bytes } = await retain(store);
  return Object.entries(bytes).reduce((sum, [table, size]) => sum + (BUILD_TABLES.includes(table) ? 0 : size), 0);
}

async function count(driver: SqlDriver, table: string): Promise<number> {
  const [row] = await driver.all<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table}`);
  return row?.count ?? 0;
}

/** Feedback as a stranger sends it, 4 KB each. */
const said = (index: number): Intake => ({
  entry: 'feedback',
  feedback: { id: nameOf(index), address: DIGEST, text: noise().slice(0, 4000), at: thisHour + index },
});

describeStores('retention', (open) => {
  it('deletes by age, and keeps the counts', async () => {
    const { store } = await open();
    await ingest(store, fullOf({ at: thisHour - 91 * Day }), fullOf({ at: thisHour }));
    const { deleted } = await retain(store);
    expect(deleted).toContainEqual({ table: 'desk_occurrences', reason: 'age', rows: 1 });
    expect((await store.listOccurrences(DIGEST, { limit: 10 })).occurrences).toHaveLength(1);
    expect((await store.find({ digest: DIGEST }))?.incident.counts.server).toBe(2);
    await retain(store, { maxAge: Minute });
    expect((await store.listOccurrences(DIGEST, { limit: 10 })).occurrences.length).toBeLessThanOrEqual(1);
  });

  it('has a share for each table', async () => {
    const { driver } = await open();
    const sqlite = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'desk_%'";
    const postgres = "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relname LIKE 'desk_%'";
    const rows = await driver.all<{ name: string }>(driver.dialect.name === 'sqlite' ? sqlite : postgres);
    const tables = rows.map(({ name }) => name).filter((name) => !name.startsWith('desk_search_index'));
    const grouped = [...TABLE_GROUPS.flatMap((group) => group.tables), ...BUILD_TABLES];
    expect(grouped.toSorted()).toEqual(tables.toSorted());
  });

  it('shrinks only what exceeds its share', async () => {
    const { store, driver } = await open();
    await ingest(store, ...Array.from({ length: 50 }, (_, index) => fullOf({ at: thisHour + index })));
    // Visitors write far more than their share.
    await ingest(store, ...Array.from({ length: 1200 }, (_, index) => said(index)));
    const maxBytes = 3 * MiB;
    const { deleted } = await retain(store, { maxBytes });
    expect(deleted.filter(({ reason }) => reason === 'size').map(({ table }) => table)).toEqual(['desk_feedback']);
    expect(await count(driver, 'desk_occurrences')).toBe(50);
    const left = await store.listFeedback(DIGEST, 2000);
    expect(left.length).toBeGreaterThan(10);
    expect(left[0]?.id).toBe(nameOf(1199)); // the oldest were deleted first
    expect(await measure(store)).toBeLessThan(maxBytes);
    // A second pass deletes nothing, because everything fits.
    expect((await retain(store, { maxBytes })).deleted).toEqual([]);
  });

  it('does not touch the files of builds, which have a separate limit', async () => {
    const { store } = await open();
    await store.useBuild({ id: 'build-1', release: 'v1' });
    for (let index = 0; index < 20; index += 1) {
      await store.storeBuildFile('build-1', {
        path: `maps/${index}.map`,
        read: () => Buffer.from(noise().repeat(100)),
      });
    }
    await ingest(store, ...Array.from({ length: 50 }, (_, index) => fullOf({ at: thisHour + index })));
    expect((await retain(store, { maxBytes: 2 * MiB })).deleted).toEqual([]);
  });

  it('deletes hourly samples before the first and newest occurrences, and browser ones before server ones', async () => {
    const { store } = await open();
    const sent = (at: number, side: 'server' | 'browser') =>
      Array.from({ length: 60 }, (_, index) => fullOf({ at: at + index, side, extra: { noise: noise() } }));
    for (let hour = 3; hour > 0; hour -= 1) {
      await ingest(store, ...sent(thisHour - hour * Hour, 'server'), ...sent(thisHour - hour * Hour, 'browser'));
    }
    const kept = async () => {
      const { occurrences } = await store.listOccurrences(DIGEST, { limit: 1000 });
      return occurrences.filter(({ isWhole }) => isWhole);
    };
    const before = (await kept()).length;
    expect(before).toBe(360);
    await retain(store, { maxBytes: (await measure(store)) * 0.8 });
    const left = await kept();
    expect(left.length).toBeLessThan(before);
    expect(left.length).toBeGreaterThan(30);
    const ofServers = left.filter(({ side }) => side === 'server').length;
    expect(ofServers).toBeGreaterThan(left.length - ofServers);
    // The first ten are the oldest that remain.
    const oldest = left.slice(-10).map(({ at }) => at);
    expect(Math.max(...oldest)).toBeLessThan(thisHour - 3 * Hour + 60);
    expect(await store.find({ digest: DIGEST })).toMatchObject({ incident: { counts: { server: 180, browser: 180 } } });
  });

  it('makes room by deleting made-up incidents first', async () => {
    const { store } = await open();
    const madeUp = Array.from({ length: 900 }, (_, index) =>
      fullOf({ digest: nameOf(index), side: 'browser', at: thisHour + index, title: noise() }),
    );
    await ingest(store, fullOf({ at: thisHour }), ...madeUp);
    await store.addNote(nameOf(0), 'I am working on this.', 'ada');
    const { deleted } = await retain(store, { maxBytes: (await measure(store)) * 0.8 });
    expect(deleted.some(({ table, reason }) => table === 'desk_incidents' && reason === 'size')).toBe(true);
    expect((await store.find({ digest: DIGEST }))?.incident.counts.server).toBe(1);
    expect(await store.find({ digest: nameOf(0) })).toBeDefined();
    expect(await store.find({ digest: nameOf(1) })).toBeUndefined();
    expect(await store.find({ digest: nameOf(899) })).toBeDefined();
  });

  it('removes orphaned rows', async () => {
    const { store, driver } = await open();
    await ingest(store, fullOf(), fullOf({ digest: '00000002' }), said(1));
    await driver.run('DELETE FROM desk_incidents WHERE digest = ?', [DIGEST]);
    await driver.run('DELETE FROM desk_wholes WHERE digest = ?', ['00000002']);
    const { deleted } = await retain(store);
    expect(deleted.every(({ reason }) => reason === 'orphan')).toBe(true);
    for (const table of ['desk_hours', 'desk_occurrences', 'desk_search', 'desk_releases', 'desk_environments']) {
      expect([table, await count(driver, table)]).toEqual([table, 1]);
    }
    for (const table of ['desk_wholes', 'desk_dictionaries', 'desk_feedback']) {
      expect([table, await count(driver, table)]).toEqual([table, 0]);
    }
  });

  it('uses the clock of the store, and deletes nothing if the clocks differ', async () => {
    const { store } = await open();
    await ingest(store, fullOf());
    for (const ahead of [91 * Day, -91 * Day, 6 * Minute]) {
      const { isRefused, clockSkew, deleted } = await retain(store, { now: Date.now() + ahead });
      expect([isRefused, deleted]).toEqual([true, []]);
      expect(Math.abs(clockSkew - ahead)).toBeLessThan(Minute);
    }
    expect((await retain(store, { now: Date.now() + Minute })).isRefused).toBe(false);
    expect((await store.listOccurrences(DIGEST, { limit: 9 })).occurrences).toHaveLength(1);
  });

  it('keeps the position of a live process, even one that stored nothing for long', async () => {
    const { store, driver } = await open();
    const at = { segment: 3, offset: 700 };
    for (const run of ['alive', 'ended', 'unknown']) {
      await store.ingest({ entries: [summaryOf()], from: { run, next: at } });
    }
    for (const id of ['alive', 'ended']) {
      await store.storeHeartbeat({ id, build: 'b', release: 'v1' }, { startedAt: 1, inFlight: [], memory: 1 });
    }
    await store.storeEnd('ended');
    await driver.run('UPDATE desk_journals SET at = at - ?', [91 * Day]);
    await retain(store);
    expect(await store.readPosition('alive')).toEqual(at);
    expect(await store.readPosition('ended')).toEqual({ segment: 0, offset: 0 });
    expect(await store.readPosition('unknown')).toEqual({ segment: 0, offset: 0 });
  });
});
