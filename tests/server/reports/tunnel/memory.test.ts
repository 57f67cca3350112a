import { describe, expect, it } from 'vitest';
import { toSender } from '../../../../src/server/engine/request/to-sender.ts';
import {
  createEchoes,
  createKnownBuilds,
  createNewIncidents,
  createRecentIds,
  createTokenBuckets,
} from '../../../../src/server/reports/tunnel/memory.ts';
import { createVisitors, NO_DAY, type Salt } from '../../../../src/server/reports/tunnel/visitors.ts';
import { Day, Hour, Minute } from '../../../../src/shared/units.ts';

function clock(at = 0) {
  const time = { at, now: () => time.at };
  return time;
}

describe('token buckets', () => {
  it('allow a burst, then the configured rate', () => {
    const time = clock();
    const buckets = createTokenBuckets({ burst: 3, perSecond: 2 }, { now: time.now });
    const take = (times: number) => Array.from({ length: times }, () => buckets.take('a'));
    expect(take(4)).toEqual([0, 0, 0, 500]);
    time.at = 500;
    expect(take(2)).toEqual([0, 500]);
    time.at = Hour;
    expect(take(4)).toEqual([0, 0, 0, 500]);
  });

  it('are limited in number: the sender that was idle longest starts again', () => {
    const buckets = createTokenBuckets({ burst: 1, perSecond: 0.001 }, { now: () => 0, maxBuckets: 3 });
    const taken = ['a', 'b', 'c', 'a', 'd', 'a', 'b'].map((key) => buckets.take(key) === 0);
    expect(taken).toEqual([true, true, true, false, true, false, true]);
    for (let sender = 0; sender < 10_000; sender += 1) buckets.take(`s${sender}`);
    expect(buckets.size).toBe(3);
  });

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2'],
    ['::1', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['an invalid address', 'an invalid address'],
  ])('take %s for %s', (address, sender) => {
    expect(toSender(address)).toBe(sender);
  });
});

it('remembers an id for ten minutes, and a limited number of ids', () => {
  const time = clock();
  const ids = createRecentIds({ now: time.now, maxIds: 2 });
  ids.add('a', 'AAAA');
  expect(ids.find('a')).toBe('AAAA');
  time.at = 10 * Minute;
  expect(ids.find('a')).toBeUndefined();
  for (const id of ['b', 'c', 'd']) ids.add(id, id);
  expect(['b', 'c', 'd'].map((id) => ids.find(id))).toEqual([undefined, 'c', 'd']);
});

describe('new incidents', () => {
  it('are limited to 50 an hour, however they arrive; known ones are not', async () => {
    const time = clock();
    const incidents = createNewIncidents({ isKnown: async (digest) => digest === 'known', now: time.now });
    await Promise.all(Array.from({ length: 100 }, () => incidents.admit('same')));
    const others = await Promise.all(Array.from({ length: 60 }, (_, index) => incidents.admit(`new-${index}`)));
    expect(others.filter(Boolean)).toHaveLength(49);
    const admit = (digests: string[]) => Promise.all(digests.map((digest) => incidents.admit(digest)));
    expect(await admit(['known', 'same', 'new-0', 'new-59'])).toEqual([true, true, true, false]);
    time.at = Hour;
    expect(await incidents.admit('new-59')).toBe(true);
  });

  it('are admitted while the store is unavailable', async () => {
    const incidents = createNewIncidents({ isKnown: () => Promise.reject(new Error('away')) });
    expect(await incidents.admit('a')).toBe(true);
  });
});

it('admits an echo once, even before it is stored', async () => {
  const echoes = createEchoes({ isAwaited: async (address) => address !== 'unknown' });
  expect(await Promise.all([echoes.admit('a'), echoes.admit('a')])).toEqual([true, false]);
  expect(await echoes.admit('a')).toBe(false);
  expect([await echoes.admit('unknown'), await echoes.admit('b')]).toEqual([false, true]);
});

describe('known builds', () => {
  const own = { build: 'build-3', release: 'v3' };
  const second = { build: 'build-2', release: 'v2' };

  it('are found by id and release, the running one without the store', async () => {
    const published = ['build-3', 'build-2', 'build-1'].map((id) => ({ id, release: 'v2' }));
    const findBuild = createKnownBuilds({ own, list: async () => published });
    const findAll = (names: string[]) => Promise.all(names.map(findBuild));
    expect(await findAll(['build-3', 'v3'])).toEqual([own, own]);
    // The running build was first published under another release.
    expect(await findAll(['build-4', 'build-3', 'build-1', 'v2'])).toEqual([
      ...[undefined, own, { build: 'build-1', release: 'v2' }, { build: 'build-3', release: 'v2' }],
    ]);
    expect(await findAll(['v999', '__proto__'])).toEqual([undefined, undefined]);
  });

  it('are listed at most once a minute for unknown names, which wait for a list that is loading', async () => {
    const time = clock();
    const lists = [[], [{ id: 'build-2', release: 'v2' }]];
    let asked = 0;
    const findBuild = createKnownBuilds({ own, now: time.now, list: async () => lists[asked++] ?? [] });
    const findAll = () => Promise.all(Array.from({ length: 100 }, () => findBuild('build-2')));
    expect([new Set(await findAll()), asked]).toEqual([new Set([undefined]), 1]);
    time.at = Minute;
    expect([new Set(await findAll()), asked]).toEqual([new Set([second]), 2]);
  });

  it('stay while the store is unavailable, which is asked again', async () => {
    let isAway = true;
    const list = async () => {
      if (isAway) throw new Error('away');
      return [{ id: 'build-2', release: 'v2' }];
    };
    const findBuild = createKnownBuilds({ own, list });
    expect([await findBuild('build-2'), await findBuild('v3')]).toEqual([undefined, own]);
    isAway = false;
    expect(await findBuild('build-2')).toEqual(second);
  });
});

describe('visitors', () => {
  const TODAY = 20_000;
  const ADDRESS = '192.0.2.1';

  /** A store that several processes use, and that can become unavailable. */
  function createFakeStore() {
    const time = clock(TODAY * Day + 12 * Hour);
    const store = { salts: [] as Salt[], isAway: false, time };
    const readSalts = async (offers: readonly Salt[]) => {
      if (store.isAway) throw new Error('away');
      for (const offer of offers) if (!store.salts.some(({ day }) => day === offer.day)) store.salts.push(offer);
      return [...store.salts];
    };
    return Object.assign(store, { start: () => createVisitors({ now: time.now, readSalts }) });
  }

  it('have a new hash of the address each day, and the same hash of an id, on all replicas', async () => {
    const store = createFakeStore();
    const [one, two] = [store.start(), store.start()];
    for (const { refresh } of [one, two]) await refresh();
    const first = one.toVisitor(ADDRESS);
    const ann = one.toVisitor(ADDRESS, 'ann');
    expect(first).toMatch(/^[\w-]{16}$/);
    expect([two.toVisitor(ADDRESS), two.toVisitor('192.0.2.2', 'ann')]).toEqual([first, ann]);
    expect(new Set([first, ann, one.toVisitor('192.0.2.2'), one.toVisitor(ADDRESS, 'bob')]).size).toBe(4);
    expect(one.toVisitor('2001:db8::1')).toBe(one.toVisitor('2001:db8::2'));
    store.time.at += Day;
    expect([one.toVisitor(ADDRESS) === first, one.toVisitor(ADDRESS, 'ann')]).toEqual([false, ann]);
  });

  it('have the salt of the next day before it begins', async () => {
    const store = createFakeStore();
    store.time.at = (TODAY + 1) * Day - Hour;
    const [one, two] = [store.start(), store.start()];
    for (const { refresh } of [one, two]) await refresh();
    store.isAway = true;
    store.time.at += Hour;
    expect(one.toVisitor(ADDRESS)).toBe(two.toVisitor(ADDRESS));
  });

  it('are told apart while the store is unavailable, and have its salts when it is back', async () => {
    const store = createFakeStore();
    store.isAway = true;
    const { toVisitor, refresh } = store.start();
    await expect(refresh()).rejects.toThrow('away');
    const mine = toVisitor(ADDRESS);
    expect([toVisitor(ADDRESS), toVisitor('192.0.2.2') === mine]).toEqual([mine, false]);
    store.isAway = false;
    for (const day of [NO_DAY, TODAY]) store.salts.push({ day, salt: 'of another replica' });
    await refresh();
    expect(toVisitor(ADDRESS)).not.toBe(mine);
  });
});
