import { zstdCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { LogPosition } from '../../../../src/desk/server/ingest/segments.ts';
import type { NewOccurrence } from '../../../../src/desk/server/store/ingest/batch.ts';
import { openStore, type Store } from '../../../../src/desk/server/store/store.ts';
import type { Failure } from '../../../../src/server/errors/failure.ts';
import { Day, Hour } from '../../../../src/shared/units.ts';
import { createFailure } from '../../support/desk.ts';
import { describeStores, fullOf, thisHour as hour, ingest, retain, summaryOf } from '../../support/stores.ts';

const DIGEST = '7K3QM2XA';
const KEY = `${DIGEST}@production`;
const START = { segment: 0, offset: 0 };

describeStores('a store', (open) => {
  /** Opens a store with these entries. */
  async function openWith(...entries: NewOccurrence[]) {
    const { store, driver } = await open();
    await ingest(store, ...entries);
    const find = ({ digest = DIGEST, occurrence }: Partial<Failure> = {}) =>
      store.finder.find({ digest, ...(occurrence !== undefined && { occurrence }) });
    return {
      store,
      driver,
      find,
      read: async (digest = DIGEST) => (await find({ digest }))?.incident,
      ingest: (...more: NewOccurrence[]) => ingest(store, ...more),
    };
  }

  it('describes an incident by its first full occurrence, with the times of a journal that arrives late', async () => {
    const { store, read, ...desk } = await openWith(fullOf({ at: hour, release: 'v2', build: 'build-2' }));
    await desk.ingest(fullOf({ at: hour - 5000, title: 'Other words', side: 'browser' }));
    expect(await read()).toMatchObject({
      ...{ title: 'TypeError: boom', message: 'boom', route: '/orders/:id', state: 'open', version: 0 },
      ...{ firstAt: hour - 5000, firstRelease: 'v1', lastAt: hour, lastRelease: 'v2', visitors: 0 },
    });
    expect(await store.incidents.listReleases(KEY)).toMatchObject([
      { release: 'v1', build: 'build-1', firstAt: hour - 5000, lastAt: hour - 5000, count: 1 },
      { release: 'v2', build: 'build-2', firstAt: hour, lastAt: hour, count: 1 },
    ]);
    await desk.ingest(fullOf({ kind: 'server-exit' }));
    await desk.ingest(fullOf());
    expect(await read()).toMatchObject({ kind: 'server-exit' });
  });

  it('counts exactly by hour and side, and keeps at most 1,000 occurrences an hour for each side', async () => {
    const many = Array.from({ length: 1800 }, (_, index) =>
      summaryOf({ at: hour + index, side: index % 3 === 0 ? 'browser' : 'server' }),
    );
    const { store, driver, find, ...desk } = await openWith(fullOf({ at: hour }), ...many.slice(0, 700));
    await desk.ingest(...many.slice(700), summaryOf({ at: hour + Hour }));
    const hours = 'SELECT hour AS at, server_count + browser_count AS count FROM desk_hours ORDER BY hour';
    expect(await driver.all(hours)).toEqual([
      { at: hour, count: 1801 },
      { at: hour + Hour, count: 1 },
    ]);
    expect(await find()).toMatchObject({ incident: { counts: { server: 1202, browser: 600 } } });
    const stored = many[10];
    expect(await find(stored)).toMatchObject({ state: 'stored', occurrence: { requestId: stored?.requestId } });
    expect(await find(many[1798])).toMatchObject({ state: 'sampled', incident: { digest: DIGEST } });
    expect(await find(many[1797])).toMatchObject({ state: 'stored', occurrence: { side: 'browser' } });
    expect((await store.occurrences.listOccurrences(KEY, { limit: 2000 })).occurrences).toHaveLength(1601);
  });

  it('keeps a hundred full occurrences an hour for each side', async () => {
    const make = (count: number, wanted: Partial<Failure>) =>
      Array.from({ length: count }, (_, index) => fullOf({ at: hour + index, ...wanted }));
    const sent = make(250, { side: 'browser' });
    const seen = make(150, {});
    const { store, ...desk } = await openWith(...sent.slice(0, 200), ...seen.slice(0, 40));
    await desk.ingest(...seen.slice(40), ...sent.slice(200));
    const { occurrences } = await store.occurrences.listOccurrences(KEY, { limit: 1000 });
    const kept = occurrences.flatMap(({ isFull, occurrence }) => (isFull ? [occurrence] : []));
    const expected = [...seen.slice(0, 100), ...sent.slice(0, 100)].map(({ occurrence }) => occurrence);
    expect(kept.sort()).toEqual(expected.sort());
  });

  it('reads a full occurrence unchanged, and skips one whose bytes are damaged', async () => {
    const both = [fullOf({ extra: { one: 1 } }), fullOf({ extra: { two: '2' }, tags: { a: 'b' } })];
    const { driver, find } = await openWith(...both);
    for (const { full } of both) expect((await find(full))?.occurrence?.full).toEqual(full);
    await driver.run('UPDATE desk_occurrences SET payload = ?', [Buffer.from('broken')]);
    const damaged = (await find(both[0]))?.occurrence;
    expect([damaged?.isFull, damaged?.full]).toEqual([true, undefined]);
    expect(await find({ occurrence: '00000000' })).toMatchObject({ state: 'unknown' });
    expect(await find({ digest: '00000000' })).toBeUndefined();
  });

  it('counts a piece of a journal once, even if a commit that was given up arrives during the next try', async () => {
    const { store } = await open();
    const ingestAt = async (start: LogPosition) => {
      const next = { ...start, offset: start.offset + 100 };
      const batch = { occurrences: [fullOf(), fullOf()], from: { process: 'run-1', start, next } };
      const tries = await Promise.allSettled([
        store.journals.ingest(batch),
        store.journals.ingest(batch),
        store.journals.ingestEach(batch),
      ]);
      expect(tries.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
      return next;
    };
    const last = await ingestAt(await ingestAt(START));
    expect(await store.journals.readPosition('run-1')).toEqual(last);
    expect((await store.finder.find({ digest: DIGEST }))?.incident.counts.server).toBe(4);
  });

  it('stores a batch or nothing. One by one, it drops what it never accepts, and at the last try what it refuses', async () => {
    const { store, driver } = await open();
    const broken = { ...fullOf(), full: { ...createFailure(), kind: null } } as unknown as NewOccurrence;
    const later = summaryOf({ digest: '00000002' });
    const occurrences = [summaryOf({ digest: '00000001' }), broken, later];
    const counts = async () => (await store.list.listIncidents({ limit: 10 })).incidents.length;
    const from = { process: 'run-1', start: START, next: { segment: 1, offset: 1 } };
    await expect(store.journals.ingest({ occurrences, from })).rejects.toThrow();
    expect([await counts(), await store.journals.readPosition('run-1')]).toEqual([0, START]);
    // A table that cannot be used for a while, which only aliases need.
    const moved = { ...later, shownAs: '00000003' };
    await driver.run('ALTER TABLE desk_aliases RENAME TO desk_elsewhere');
    await expect(store.journals.ingestEach({ occurrences: [...occurrences, moved] })).rejects.toMatchObject({
      reason: 'refused',
    });
    expect(await counts()).toBe(0);
    const refused = await store.journals.ingestEach({ occurrences: [...occurrences, moved] }, { isLast: true });
    expect(refused.map(({ occurrence }) => occurrence)).toEqual([broken, moved]);
    expect(await counts()).toBe(2);
    await driver.run('ALTER TABLE desk_elsewhere RENAME TO desk_aliases');
  });

  it('stores text with characters that databases reject', async () => {
    const { read } = await openWith(fullOf({ title: 'a\0b \uD800 🙂', release: 'r'.repeat(5000) }));
    expect((await read())?.title).toBe('a\uFFFDb \uFFFD 🙂');
  });

  it('finds an occurrence by the digest under which it was shown', async () => {
    const shown = { digest: '00000001' };
    const moved: NewOccurrence = { ...fullOf({ digest: '00000002' }), shownAs: shown.digest };
    const { find, ...desk } = await openWith(moved);
    const incident = { digest: '00000002' };
    const { occurrence } = moved;
    expect(await find({ ...shown, occurrence })).toMatchObject({ state: 'stored', incident });
    expect(await find(shown)).toMatchObject({ incident });
    // Other failures with that digest are not moved.
    await desk.ingest(fullOf(shown));
    expect(await find(shown)).toMatchObject({ incident: shown });
  });

  it('keeps the files of builds, and deletes those of old builds', async () => {
    const { store, driver } = await open();
    const asset = 'client/assets/a-AAAAAAAA.js';
    const packed = zstdCompressSync('const a = 1;');
    const isPublished = () => store.builds.useBuild({ id: 'old', release: 'v1' });
    expect(await isPublished()).toBe(false);
    for (const path of [asset, 'sites.json']) await store.builds.storeBuildFile('old', { path, packed });
    await store.builds.setPublished('old');
    await store.builds.useBuild({ id: 'new', release: 'v2' });
    await store.builds.storeBuildFile('new', { path: asset, packed });
    expect(await isPublished()).toBe(true);

    const readAfter31Days = async (...running: string[]) => {
      await driver.run("UPDATE desk_builds SET used_at = used_at - ? WHERE id = 'old'", [31 * Day]);
      for (const build of running) await retain(store, { build });
      return store.builds.readBuildFile('old', 'sites.json');
    };
    expect(await readAfter31Days('old', 'new')).toBeDefined();
    expect(await readAfter31Days('new')).toBeUndefined();
    expect(String(await store.builds.readAsset(asset))).toBe('const a = 1;');
    expect(await isPublished()).toBe(false);
  });

  it('reports a dead process once', async () => {
    const { store } = await open();
    const run = { id: 'run-1', build: 'build-1', release: 'v1', environment: 'production', startedAt: hour };
    const beat = () =>
      store.processes.storeHeartbeat(run, { inFlight: [], memory: 5, heap: { used: 1, limit: 2 }, blockedMs: 0 });
    await beat();
    expect([await store.processes.listSilent(60_000), await store.processes.listSilent(0)]).toEqual([[], ['run-1']]);
    const record = () => store.processes.recordDeath('run-1', createFailure(), 'production');
    expect((await Promise.all([record(), record()])).sort()).toEqual([false, true]);
    expect(await store.finder.find({ digest: DIGEST })).toMatchObject({ incident: { counts: { server: 1 } } });

    await beat(); // It was only disconnected from the store.
    expect(await store.processes.listSilent(0)).toEqual(['run-1']);
    await store.processes.storeEnd('run-1');
    await beat(); // A database that hung can run the last heartbeat after the end.
    expect(await store.processes.listSilent(0)).toEqual([]);
  });

  it('ends each session once, or after its time', async () => {
    const { store, driver } = await open();
    for (const hash of ['1', '2']) await store.sessions.storeSession(hash, 12 * Hour);
    const ends = await Promise.all(['1', '1'].map((hash) => store.sessions.endSession(hash)));
    expect(ends.sort()).toEqual([false, true]);
    expect(await store.sessions.hasSession('2')).toBe(true);
    await driver.run('UPDATE desk_sessions SET expires_at = expires_at - ?', [12 * Hour]);
    expect([await store.sessions.hasSession('2'), await store.sessions.endSession('2')]).toEqual([false, false]);
  });

  it('has states, counts, releases and notifications for each environment', async () => {
    const rules = { after: 1, targets: [{ id: 'hook', name: 'Webhook' }] };
    const { store: production, driver } = await open(rules);
    const staging = await openStore(driver, { environment: 'staging', rules });
    const deploy = async (store: Store, release: string) => {
      await store.builds.useBuild({ id: release, release });
      await ingest(store, fullOf({ release, build: release, at: Date.now() + 5 }));
    };
    const read = async (environment: string) => (await staging.finder.find({ digest: DIGEST }, environment))?.incident;
    await deploy(production, 'v1');
    await production.changes.changeState(KEY, { state: 'resolved', in: 'next' }, { author: 'ada' });
    // The next release runs in staging first, where the failure is known too.
    await deploy(staging, 'v2');
    expect(await read('production')).toMatchObject({ state: 'resolved', lastRelease: 'v1' });
    expect(await read('staging')).toMatchObject({ state: 'open', counts: { server: 1 }, lastRelease: 'v2' });
    const queued = await production.notifications.listNotifications(9);
    expect(queued.map(({ key }) => key)).toEqual([`${DIGEST}@staging`, KEY]);
    // Deployed to production, the release makes it a regression there.
    await deploy(production, 'v2');
    expect(await read('production')).toMatchObject({ state: 'open', regressedIn: 'v2' });
  });

  it.each([
    ['an unpublished version, with what to do', "value = '13' WHERE name = 'schema'", /before 0\.3\.0.*copy/s],
    ['a newer release', "value = '99' WHERE name IN ('schema', 'oldest_writer')", /newer release/],
  ])('refuses the database of %s', async (_what, change, message) => {
    const { driver } = await open();
    await driver.run(`UPDATE desk_meta SET ${change}`);
    await expect(openStore(driver, { environment: 'production' })).rejects.toThrow(message);
  });
});
