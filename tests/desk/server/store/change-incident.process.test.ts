import { expect, it } from 'vitest';
import type { StateChange } from '../../../../src/desk/server/store/change-incident.ts';
import type { Store } from '../../../../src/desk/server/store/store.ts';
import type { Failure } from '../../../../src/server/errors/failure.ts';
import { Day, Hour, Minute } from '../../../../src/shared/units.ts';
import { describeStores, fullOf, ingest, summaryOf, thisHour } from '../../support/stores.ts';

const digest = '7K3QM2XA';
const key = `${digest}@production`;
const ada = { author: 'ada' };
const RESOLVED = { state: 'resolved', in: 'now' } as const;
const browser = { side: 'browser' } as const;
/** Returns a time after all earlier changes, but in the same hour. The store and the test use the same clock. */
const later = () => Math.min(Date.now() + Minute, (Math.floor(Date.now() / Hour) + 1) * Hour - 1);

describeStores('the state of an incident', (open) => {
  const read = async (store: Store) => (await store.finder.find({ digest }))?.incident;
  const set = (store: Store, to: StateChange) => store.changes.changeState(key, to, ada);
  const returns = (store: Store, wanted: Partial<Failure> = {}) => ingest(store, summaryOf({ at: later(), ...wanted }));

  async function openWith(...failures: Partial<Failure>[]) {
    const opened = await open();
    await ingest(opened.store, ...failures.map((failure) => fullOf(failure)));
    return opened;
  }

  it('changes once of several callers who saw the same version, and the others get the current one', async () => {
    const { store } = await openWith({});
    const change = (author: string, expected: number) =>
      store.changes.changeState(key, { state: 'ignored' }, { author, expected });
    expect(await change('ada', 0)).toMatchObject({ outcome: 'changed', before: { version: 0 } });
    expect(await change('bob', 0)).toMatchObject({ outcome: 'conflict', incident: { stateBy: 'ada', version: 1 } });
    await ingest(store, summaryOf()); // An occurrence does not change the version.
    const outcomes = await Promise.all(['a', 'b', 'c', 'd'].map((author) => change(author, 1)));
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['changed', 'conflict', 'conflict', 'conflict']);
  });

  it('is a regression if it happens again after it was resolved', async () => {
    const { store } = await openWith({});
    await set(store, RESOLVED);
    await returns(store, { release: 'v2', build: 'build-2' });
    expect(await read(store)).toMatchObject({ state: 'open', version: 2, regressedIn: 'v2' });
    const [, second] = await store.incidents.listReleases(key);
    expect(second).toMatchObject({ release: 'v2', regressedAt: expect.any(Number) });
    await returns(store);
    expect(await store.history.listChanges(key, 9)).toMatchObject([
      { author: '', action: 'regressed', detail: { release: 'v2', build: 'build-2' } },
      { author: 'ada', action: 'resolved' },
    ]);
    await set(store, RESOLVED);
    expect(await read(store)).not.toHaveProperty('regressed');
  });

  it('resolved in the next release reopens only in a release first published after that', async () => {
    const { store, driver } = await openWith({});
    const use = async (release: string, build: string, ms: number) => {
      await store.builds.useBuild({ id: build, release });
      await driver.run('UPDATE desk_deployments SET first_at = first_at + ? WHERE build = ?', [ms, build]);
    };
    await use('v1', 'build-1', -Minute);
    await use('v9', 'build-9', -Minute);
    await set(store, { state: 'resolved', in: 'next' });
    await use('v1', 'build-1b', Minute);
    await use('v2', 'build-2', Minute);
    for (const [release, build, state] of [
      ['v1', 'build-1', 'resolved'],
      ['v9', 'build-9', 'resolved'],
      ['unknown', 'unknown', 'resolved'],
      ['v1', 'build-1b', 'resolved'], // another build of an old release
      ['v2', 'build-2', 'open'],
    ] as const) {
      await returns(store, { release, build });
      expect((await read(store))?.state, build).toBe(state);
    }
  });

  const echoOf = `${digest}-9F4W0R6B`;
  it.each<[what: string, first: Partial<Failure>, to: StateChange, then: Partial<Failure>[], state: string]>([
    ['arrived late, but happened before', {}, RESOLVED, [{ at: thisHour - Hour }], 'resolved'],
    ['came from browsers, and servers have seen it', {}, RESOLVED, [browser], 'resolved'],
    ['came from browsers, while servers see another one', {}, RESOLVED, [browser, { digest: '00000001' }], 'resolved'],
    ['is an echo', { occurrence: '9F4W0R6B' }, RESOLVED, [{ ...browser, echoOf }], 'resolved'],
    ['came from browsers, and only they have seen it', browser, RESOLVED, [browser], 'open'],
    ['came from browsers, and was ignored until 1 more', {}, { state: 'ignored', untilMore: 1 }, [browser], 'ignored'],
    ['was ignored until 1 more', {}, { state: 'ignored', untilMore: 1 }, [{}], 'open'],
    ['was ignored forever', {}, { state: 'ignored' }, [{}, {}, {}, {}, {}], 'ignored'],
  ])('after a failure that %s', async (_what, first, to, then, state) => {
    const { store } = await openWith({ at: thisHour - 2 * Hour, ...first });
    await set(store, to);
    await ingest(store, ...then.map((wanted) => fullOf({ at: later(), ...wanted })));
    await store.changes.endIgnores();
    expect((await read(store))?.state).toBe(state);
  });

  it('reopens by itself if it was ignored until a time', async () => {
    const { store, driver } = await openWith({});
    await set(store, { state: 'ignored', until: Date.now() + Day });
    await returns(store);
    await store.changes.endIgnores();
    expect(await read(store)).toMatchObject({ state: 'ignored', ignoredUntil: expect.any(Number) });
    await driver.run('UPDATE desk_incidents SET ignored_until = ?', [Date.now() - Minute]);
    await store.changes.endIgnores();
    await store.changes.endIgnores();
    expect(await read(store)).toMatchObject({ state: 'open', version: 2 });
    expect(await store.history.listChanges(key, 9)).toMatchObject([{ action: 'ignore-ended' }, { action: 'ignored' }]);
  });

  it('reopens after the given number of occurrences in an hour, which is not a regression', async () => {
    const { store } = await openWith({ at: thisHour }, { at: thisHour });
    await set(store, { state: 'ignored', untilMore: 3 });
    // Two in each of two hours do not count as three in one.
    for (const hours of [0, 0, 1, 1]) await returns(store, { at: thisHour + hours * Hour });
    expect((await read(store))?.state).toBe('ignored');
    await returns(store, { at: thisHour + Hour });
    expect(await read(store)).toMatchObject({ state: 'open' });
    expect(await read(store)).not.toHaveProperty('regressed');
    expect(await store.history.listChanges(key, 1)).toMatchObject([{ action: 'grown', detail: { count: 3 } }]);
  });
});
