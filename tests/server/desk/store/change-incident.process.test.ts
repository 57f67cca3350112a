import { expect, it } from 'vitest';
import type { StateChange } from '../../../../src/server/desk/store/change-incident.ts';
import type { SqlDriver } from '../../../../src/server/desk/store/sql.ts';
import type { Store } from '../../../../src/server/desk/store/store.ts';
import type { Failure } from '../../../../src/server/engine/errors/failure.ts';
import { Day, Hour, Minute } from '../../../../src/shared/units.ts';
import { describeStores, fullOf, ingest, summaryOf, thisHour } from '../../../support/stores.ts';

const digest = '7K3QM2XA';
const key = `${digest}@production`;
const ada = { author: 'ada' };
/** Returns a time after all earlier changes, but in the same hour. The store and the test use the same clock. */
const later = () => Math.min(Date.now() + Minute, (Math.floor(Date.now() / Hour) + 1) * Hour - 1);

describeStores('the state of an incident', (open) => {
  const read = async (store: Store, of = digest) => (await store.find({ digest: of }))?.incident;
  const set = (store: Store, to: StateChange, of = digest) => store.changeState(`${of}@production`, to, ada);
  const returns = (store: Store, wanted: Partial<Failure> = {}) => ingest(store, summaryOf({ at: later(), ...wanted }));
  const actions = async (store: Store) => (await store.listChanges(key, 20)).map(({ action }) => action);

  async function openWith(...failures: Partial<Failure>[]): Promise<{ store: Store; driver: SqlDriver }> {
    const opened = await open();
    await ingest(opened.store, ...failures.map((failure) => fullOf(failure)));
    return opened;
  }

  it('is changed by one operator at a time, and the log has author and time', async () => {
    const { store } = await openWith({});
    const before = Date.now() - Minute;
    await set(store, { state: 'resolved', in: 'next' });
    await store.changeState(key, { state: 'ignored', growth: 5 }, { author: 'eve' });
    expect(await read(store)).toMatchObject({ state: 'ignored', stateBy: 'eve', ignoredGrowth: 5, version: 2 });
    expect(await read(store)).not.toHaveProperty('resolvedIn');
    const log = await store.listChanges(key, 10);
    expect(log).toMatchObject([
      { author: 'eve', action: 'ignored', detail: { growth: 5 } },
      { author: 'ada', action: 'resolved', detail: { in: 'next' } },
    ]);
    expect(log.every(({ at }) => at > before && at < Date.now() + Minute)).toBe(true);
  });

  it('does not change if the caller saw another version, and the current one is returned', async () => {
    const { store } = await openWith({});
    const shown = (await read(store))?.version ?? -1;
    const change = (author: string, expected?: number) =>
      store.changeState(key, { state: 'ignored' }, { author, ...(expected !== undefined && { expected }) });
    expect(await change('ada', shown)).toMatchObject({
      outcome: 'changed',
      before: { version: shown },
      after: { stateBy: 'ada' },
    });
    expect(await change('bob', shown)).toMatchObject({
      outcome: 'conflict',
      incident: { stateBy: 'ada', version: shown + 1 },
    });
    expect(await change('bob')).toMatchObject({ outcome: 'changed', before: { stateBy: 'ada' } });
    expect(await set(store, { state: 'ignored' }, '00000000')).toEqual({ outcome: 'unknown' });
    // A new occurrence does not change the version.
    await ingest(store, summaryOf());
    expect((await read(store))?.version).toBe(shown + 2);
    const outcomes = await Promise.all(['a', 'b', 'c', 'd'].map((author) => change(author, shown + 2)));
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['changed', 'conflict', 'conflict', 'conflict']);
  });

  it('is a regression if it happens again after it was resolved', async () => {
    const { store } = await openWith({});
    await set(store, { state: 'resolved', in: 'now' });
    await returns(store, { release: 'v2', build: 'build-2' });
    expect(await read(store)).toMatchObject({ state: 'open', version: 2, regressed: { release: 'v2' } });
    expect(await read(store)).not.toHaveProperty('stateBy');
    expect(await store.listChanges(key, 1)).toMatchObject([
      { author: '', action: 'regressed', detail: { release: 'v2', build: 'build-2' } },
    ]);
    expect(await store.listReleases(key)).toMatchObject([
      { release: 'v1' },
      { release: 'v2', regressedAt: expect.any(Number) },
    ]);
    await returns(store);
    expect(await actions(store)).toEqual(['regressed', 'resolved']);
    await set(store, { state: 'resolved', in: 'now' });
    expect(await read(store)).not.toHaveProperty('regressed');
  });

  it('stays resolved if an occurrence that arrives late happened before', async () => {
    const { store } = await openWith({});
    await set(store, { state: 'resolved', in: 'now' });
    await ingest(store, summaryOf({ at: Date.now() - Hour }));
    expect((await read(store))?.state).toBe('resolved');
  });

  it('resolved in the next release reopens only in a release first published after that', async () => {
    const { store, driver } = await openWith({});
    await store.useBuild({ id: 'build-1', release: 'v1' });
    await store.useBuild({ id: 'build-9', release: 'v9' });
    // Moves the builds into the past of the store's clock.
    await driver.run('UPDATE desk_builds SET first_at = first_at - ?', [Minute]);
    await set(store, { state: 'resolved', in: 'next' });
    await returns(store);
    await returns(store, { release: 'v9', build: 'build-9' });
    await returns(store, { release: 'unknown', build: 'unknown' });
    expect((await read(store))?.state).toBe('resolved');

    // Another build of an old release is not a later release.
    await store.useBuild({ id: 'build-1b', release: 'v1' });
    await store.useBuild({ id: 'build-2', release: 'v2' });
    await driver.run("UPDATE desk_builds SET first_at = first_at + ? WHERE id IN ('build-1b', 'build-2')", [Minute]);
    await returns(store, { build: 'build-1b' });
    expect((await read(store))?.state).toBe('resolved');
    await returns(store, { release: 'v2', build: 'build-2' });
    expect(await read(store)).toMatchObject({ state: 'open', regressed: { release: 'v2' } });
  });

  it('is not reopened by browsers or echoes if the server has seen the failure', async () => {
    const { failure } = fullOf();
    const { store } = await openWith(failure);
    for (const to of [
      { state: 'resolved', in: 'now' },
      { state: 'ignored', growth: 1 },
    ] as const) {
      await set(store, to);
      await returns(store, { side: 'browser' });
      await ingest(store, fullOf({ at: later(), side: 'browser', echoOf: `${digest}-${failure.occurrence}` }));
      expect((await read(store))?.state).toBe(to.state);
      // A server occurrence of another failure in the same batch does not change that.
      await ingest(store, summaryOf({ at: later(), side: 'browser' }), summaryOf({ digest: '00000001' }));
      expect((await read(store))?.state).toBe(to.state);
      await returns(store);
      expect((await read(store))?.state).toBe('open');
    }
  });

  it('is reopened by browsers if only they have seen the failure', async () => {
    const { store } = await openWith({ side: 'browser' });
    await set(store, { state: 'resolved', in: 'now' });
    await returns(store, { side: 'browser' });
    expect(await read(store)).toMatchObject({ state: 'open', regressed: { release: 'v1' } });
  });

  it('stays ignored if it is ignored forever', async () => {
    const { store } = await openWith({});
    await set(store, { state: 'ignored' });
    for (let count = 0; count < 5; count += 1) await returns(store);
    await store.endIgnores();
    expect((await read(store))?.state).toBe('ignored');
  });

  it('reopens by itself if it was ignored until a time', async () => {
    const { store, driver } = await openWith({});
    await set(store, { state: 'ignored', until: Date.now() + Day });
    await returns(store);
    await store.endIgnores();
    expect(await read(store)).toMatchObject({ state: 'ignored', ignoredUntil: expect.any(Number) });
    await driver.run('UPDATE desk_incidents SET ignored_until = ?', [Date.now() - Minute]);
    await store.endIgnores();
    await store.endIgnores();
    expect(await read(store)).toMatchObject({ state: 'open', version: 2 });
    expect(await actions(store)).toEqual(['ignore-ended', 'ignored']);
  });

  it('reopens after the given number of occurrences in an hour, which is not a regression', async () => {
    const { store } = await openWith({ at: thisHour }, { at: thisHour });
    await set(store, { state: 'ignored', growth: 3 });
    const inHour = (hours: number) => returns(store, { at: thisHour + hours * Hour });
    await inHour(0);
    await inHour(0);
    // Two in each of two hours do not count as three in one.
    await inHour(1);
    await inHour(1);
    expect((await read(store))?.state).toBe('ignored');
    await inHour(1);
    expect(await read(store)).toMatchObject({ state: 'open' });
    expect(await read(store)).not.toHaveProperty('regressed');
    expect(await store.listChanges(key, 1)).toMatchObject([{ action: 'grown', detail: { count: 3 } }]);
  });
});
