import { zstdCompressSync } from 'node:zlib';
import { expect, it, vi } from 'vitest';
import type { PreparedEntry } from '../../../../src/server/desk/store/ingest/batch.ts';
import { SCHEMA_VERSION } from '../../../../src/server/desk/store/schema.ts';
import { readMeta } from '../../../../src/server/desk/store/sql.ts';
import { openStore, type Store } from '../../../../src/server/desk/store/store.ts';
import type { Failure } from '../../../../src/server/engine/errors/failure.ts';
import { Day, Hour } from '../../../../src/shared/units.ts';
import { createFailure } from '../../../support/desk.ts';
import { describeStores, fullOf, thisHour as hour, ingest, retain, summaryOf } from '../../../support/stores.ts';

const KEY = '7K3QM2XA@production';

describeStores('a store', (open) => {
  it('describes an incident by its first full occurrence', async () => {
    const { store } = await open();
    const first = fullOf({
      at: hour,
      site: { path: 'src/server/product/cart.ts', function: 'Cart.total', detail: 'throw new RangeError(…)' },
      weak: true,
    });
    const second = fullOf({ at: hour + 1000, release: 'v2', build: 'build-2', title: 'Other words', side: 'browser' });
    await ingest(store, first, second);

    const found = await store.find({ digest: first.failure.digest });
    expect(found).toEqual({
      incident: {
        key: KEY,
        digest: '7K3QM2XA',
        environment: 'production',
        rule: 1,
        kind: 'exception',
        title: 'TypeError: boom',
        class: 'TypeError',
        message: 'boom',
        location: first.failure.site,
        route: '/orders/:id',
        weak: true,
        state: 'open',
        version: 0,
        firstSide: 'server',
        firstAt: hour,
        lastAt: hour + 1000,
        firstRelease: 'v1',
        firstBuild: 'build-1',
        lastRelease: 'v2',
        lastBuild: 'build-2',
        counts: { server: 1, browser: 1 },
        visitors: 0,
      },
    });
    expect(await store.listReleases(KEY)).toEqual([
      { release: 'v1', build: 'build-1', firstAt: hour, lastAt: hour, count: 1 },
      { release: 'v2', build: 'build-2', firstAt: hour + 1000, lastAt: hour + 1000, count: 1 },
    ]);
  });

  it('updates the line of an incident from the latest occurrence that has one', async () => {
    const { store } = await open();
    const site = { path: 'src/cart.ts', function: 'Cart.total', detail: 'cart.total' };
    const at = (time: number, ...lines: [line: number, name: string][]): PreparedEntry => {
      const frames = lines.map(([line, name]) => ({ file: site.path, line, column: 1, function: name, own: true }));
      return { entry: 'full', failure: { ...createFailure({ at: time, site }), resolved: [frames] } };
    };
    const readLine = async () => (await store.find({ digest: '7K3QM2XA' }))?.incident.locationLine;

    await ingest(store, fullOf({ at: hour, site }));
    expect(await readLine()).toBeUndefined();
    await ingest(
      store,
      at(hour + 1000, [3, 'check'], [41, 'Cart.total']),
      at(hour + 3000, [52, 'total']),
      summaryOf({ at: hour + 4000 }),
    );
    expect(await readLine()).toBe(52);
    await ingest(store, at(hour + 2000, [41, 'Cart.total']), summaryOf({ at: hour + 3500 }));
    expect(await readLine()).toBe(52);
    await ingest(store, at(hour + 5000, [3, 'check'], [60, 'Cart.total']));
    expect(await readLine()).toBe(60);
    expect((await store.listIncidents({ limit: 1 })).incidents[0]).toMatchObject({ location: site, locationLine: 60 });
  });

  it('stores a late journal with its original times', async () => {
    const { store } = await open();
    await ingest(store, fullOf({ at: hour, release: 'v2' }));
    await ingest(store, fullOf({ at: hour - 5000, release: 'v1' }));
    const found = await store.find({ digest: '7K3QM2XA' });
    expect(found?.incident).toMatchObject({
      firstAt: hour - 5000,
      firstRelease: 'v1',
      lastAt: hour,
      lastRelease: 'v2',
    });
  });

  it('counts exactly by hour and side, and keeps at most 1,000 occurrences an hour', async () => {
    const { store } = await open();
    const many = Array.from({ length: 1500 }, (_, index) =>
      summaryOf({ at: hour + index, side: index % 3 === 0 ? 'browser' : 'server' }),
    );
    const known = fullOf({ at: hour });
    await ingest(store, known, ...many.slice(0, 700));
    await ingest(store, ...many.slice(700), summaryOf({ at: hour + Hour }));

    expect(await store.listHours(KEY)).toEqual([
      { at: hour, server: 1001, browser: 500, stored: 1000 },
      { at: hour + Hour, server: 1, browser: 0, stored: 1 },
    ]);
    expect((await store.find({ digest: '7K3QM2XA' }))?.incident.counts).toEqual({ server: 1002, browser: 500 });
    const stored = many[10]?.summary;
    const sampled = many[1400]?.summary;
    const find = (occurrence = '') => store.find({ digest: '7K3QM2XA', occurrence });
    expect(await find(stored?.occurrence)).toMatchObject({
      state: 'stored',
      occurrence: { requestId: stored?.requestId },
    });
    expect(await find(sampled?.occurrence)).toMatchObject({ state: 'sampled', incident: { digest: '7K3QM2XA' } });
    expect((await store.listOccurrences(KEY, { limit: 2000 })).occurrences).toHaveLength(1001);
  });

  it('counts an occurrence that is stored while it is looked up', async () => {
    const { store, driver } = await open();
    await ingest(store, fullOf());
    const late = fullOf();
    const all = driver.reader.all.bind(driver.reader);
    const spy = vi.spyOn(driver.reader, 'all').mockImplementation(async (text, values) => {
      const rows = await all(text, values);
      if (text.includes('FROM desk_incidents')) {
        spy.mockRestore();
        await ingest(store, late);
      }
      return rows as never[];
    });
    const { digest, occurrence } = late.failure;
    expect(await store.find({ digest, occurrence })).toMatchObject({
      state: 'stored',
      incident: { counts: { server: 2 } },
    });
  });

  it('says that an occurrence is unknown if nothing was sampled out', async () => {
    const { store } = await open();
    await ingest(store, fullOf());
    expect(await store.find({ digest: '7K3QM2XA', occurrence: '00000000' })).toMatchObject({ state: 'unknown' });
    expect(await store.find({ digest: '00000000' })).toBeUndefined();
  });

  const listFull = async (store: Store) => {
    const { occurrences } = await store.listOccurrences(KEY, { limit: 1000, withPayload: true });
    return new Set(occurrences.flatMap((one) => (one.full ? [one.full.id] : [])));
  };

  it('keeps a hundred full occurrences an hour for each side', async () => {
    const { store } = await open();
    const make = (count: number, wanted: Partial<Failure>) =>
      Array.from({ length: count }, (_, index) => fullOf({ at: hour + index, ...wanted }));
    const sent = make(250, { side: 'browser' });
    const seen = make(150, {});
    await ingest(store, ...sent.slice(0, 200), ...seen.slice(0, 40));
    await ingest(store, ...seen.slice(40), ...sent.slice(200));
    const next = make(50, { at: hour + Hour });
    await ingest(store, ...next);
    const expected = [...seen.slice(0, 100), ...sent.slice(0, 100), ...next].map(({ failure }) => failure.id);
    expect((await listFull(store)).symmetricDifference(new Set(expected))).toEqual(new Set());
  });

  it('reads a full occurrence unchanged, and skips one whose bytes are damaged', async () => {
    const { store, driver } = await open();
    const [first, second] = [fullOf({ extra: { one: 1 } }), fullOf({ extra: { two: '2' }, tags: { a: 'b' } })];
    await ingest(store, first, second);
    const read = async ({ failure }: typeof first) =>
      (await store.find({ digest: failure.digest, occurrence: failure.occurrence }))?.occurrence;
    expect((await read(first))?.full).toEqual(first.failure);
    expect((await read(second))?.full).toEqual(second.failure);
    await driver.run('UPDATE desk_occurrences SET payload = ?', [Buffer.from('broken')]);
    expect(await read(second)).toMatchObject({ isFull: true });
    expect(await read(second)).not.toHaveProperty('full');
  });

  it('stores the next journal position with each batch', async () => {
    const { store } = await open();
    expect(await store.readPosition('run-1')).toEqual({ segment: 0, offset: 0 });
    await store.ingest({ entries: [fullOf()], from: { process: 'run-1', next: { segment: 3, offset: 4711 } } });
    expect(await store.readPosition('run-1')).toEqual({ segment: 3, offset: 4711 });
    await store.forgetJournal('run-1');
    expect(await store.readPosition('run-1')).toEqual({ segment: 0, offset: 0 });
  });

  it('stores all of a batch or nothing', async () => {
    const { store } = await open();
    const broken = { ...fullOf(), failure: { ...createFailure(), kind: null } } as unknown as PreparedEntry;
    await expect(
      store.ingest({
        entries: [fullOf({ digest: '00000001' }), broken],
        from: { process: 'run-1', next: { segment: 1, offset: 1 } },
      }),
    ).rejects.toThrow();
    expect(await store.find({ digest: '00000001' })).toBeUndefined();
    expect(await store.readPosition('run-1')).toEqual({ segment: 0, offset: 0 });
    const refused = await store.ingestEach({ entries: [fullOf({ digest: '00000001' }), broken] });
    expect(refused).toMatchObject([{ entry: broken }]);
    expect(await store.find({ digest: '00000001' })).toBeDefined();
  });

  it('stores text with characters that databases reject', async () => {
    const { store } = await open();
    await ingest(store, fullOf({ title: 'a\0b \uD800 🙂', release: 'r'.repeat(5000) }));
    expect((await store.find({ digest: '7K3QM2XA' }))?.incident.title).toBe('a\uFFFDb \uFFFD 🙂');
  });

  it('finds an occurrence by the digest under which it was shown', async () => {
    const { store } = await open();
    const moved: PreparedEntry = { ...fullOf({ digest: '00000002' }), shownAs: '00000001' };
    await ingest(store, moved);
    const { occurrence } = moved.failure;
    expect(await store.find({ digest: '00000001', occurrence })).toMatchObject({
      state: 'stored',
      incident: { digest: '00000002' },
    });
    expect(await store.find({ digest: '00000001' })).toMatchObject({ incident: { digest: '00000002' } });

    // Other failures with that digest are not moved.
    await ingest(store, fullOf({ digest: '00000001' }));
    expect(await store.find({ digest: '00000001' })).toMatchObject({ incident: { digest: '00000001' } });
  });

  it('leads from an echo to the failure that it repeats, and does not count it', async () => {
    const { store } = await open();
    const failure = fullOf();
    const echo = fullOf({
      digest: '00000009',
      side: 'browser',
      echoOf: `${failure.failure.digest}-${failure.failure.occurrence}`,
    });
    await ingest(store, failure, echo);
    const found = await store.find({ digest: '00000009', occurrence: echo.failure.occurrence });
    expect(found).toMatchObject({
      incident: { digest: '7K3QM2XA', counts: { server: 1, browser: 0 } },
      occurrence: { occurrence: failure.failure.occurrence },
    });
  });

  it('leads a server address to its failure, even if a browser reported it as an echo', async () => {
    const { store } = await open();
    const shown = fullOf();
    const issued = { digest: '00000009', occurrence: '9F4W0R6B' };
    const echoOf = `${shown.failure.digest}-${shown.failure.occurrence}`;
    await ingest(store, shown, fullOf({ ...issued, side: 'browser', echoOf }));
    await ingest(store, fullOf(issued));
    expect(await store.find(issued)).toMatchObject({
      incident: { digest: '00000009' },
      occurrence: { side: 'server' },
    });
  });

  it('keeps the files of builds, and deletes those of old builds', async () => {
    const { store, driver } = await open();
    const bytes = Buffer.from('const a = 1;\n'.repeat(100));
    const file = (path: string, contents: Buffer) => ({ path, packed: zstdCompressSync(contents) });
    expect(await store.useBuild({ id: 'old', release: 'v1' })).toBe(false);
    await store.storeBuildFile('old', file('client/assets/a-AAAAAAAA.js', bytes));
    await store.storeBuildFile('old', file('sites.json', Buffer.from('{}')));
    await store.setPublished('old');
    await store.useBuild({ id: 'new', release: 'v2' });
    await store.storeBuildFile('new', file('client/assets/a-AAAAAAAA.js', bytes));
    expect(await store.useBuild({ id: 'old', release: 'v1' })).toBe(true);

    const growOld = () => driver.run("UPDATE desk_builds SET used_at = used_at - ? WHERE id = 'old'", [31 * Day]);
    await growOld();
    // The old build runs all that time. The next one starts when it ends.
    await retain(store, { build: 'old' });
    await retain(store, { build: 'new' });
    expect(await store.readBuildFile('old', 'sites.json')).toBeDefined();
    await growOld();
    await retain(store, { build: 'new' });
    expect(await store.readBuildFile('old', 'sites.json')).toBeUndefined();
    expect(Buffer.from((await store.readAsset('client/assets/a-AAAAAAAA.js')) ?? [])).toEqual(bytes);
    expect(await store.useBuild({ id: 'old', release: 'v1' })).toBe(false);
    expect((await store.listBuilds()).map(({ id }) => id).sort()).toEqual(['new', 'old']);
  });

  it('reports a dead process once', async () => {
    const { store } = await open();
    const run = { id: 'run-1', build: 'build-1', release: 'v1', environment: 'production', startedAt: hour };
    const inFlight = [{ requestId: 'r1', method: 'GET', route: '/orders/:id', ms: 12 }];
    await store.storeHeartbeat(run, { inFlight, memory: 5 }, 0);
    expect(await store.listSilent(60_000)).toEqual([]);
    expect(await store.listSilent(0)).toEqual(['run-1']);
    expect(await store.readUnended('run-1')).toMatchObject({ inFlight, memory: 5 });
    const record = () => store.recordDeath('run-1', fullOf(), 'production');
    const told = await Promise.all([record(), record()]);
    expect(told.sort()).toEqual([false, true]);
    expect((await store.find({ digest: '7K3QM2XA' }))?.incident.counts.server).toBe(1);

    // It was only disconnected from the store.
    await store.storeHeartbeat(run, { inFlight: [], memory: 5 }, 0);
    expect(await store.listSilent(0)).toEqual(['run-1']);
    await store.storeEnd('run-1');
    expect(await store.listSilent(0)).toEqual([]);
  });

  it('keeps its metadata when another process opens it', async () => {
    const { driver } = await open();
    const meta = await readMeta(driver);
    expect(meta).toMatchObject({ schema: String(SCHEMA_VERSION) });
    await openStore(driver, { environment: 'production' });
    expect(await readMeta(driver)).toEqual(meta);
  });

  it('refuses the database of an unpublished version, and says what to do', async () => {
    const { driver } = await open();
    await driver.run("UPDATE desk_meta SET value = '13' WHERE name = 'schema'");
    await expect(openStore(driver, { environment: 'production' })).rejects.toThrow(/before 0\.3\.0.*copy/s);
  });

  it('refuses to write if a newer release does not allow it', async () => {
    const { driver } = await open();
    await driver.run("UPDATE desk_meta SET value = '99' WHERE name IN ('schema', 'oldest_writer')");
    await expect(openStore(driver, { environment: 'production' })).rejects.toThrow(/newer release/);
  });
});
