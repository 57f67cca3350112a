import { describe, expect, it } from 'vitest';
import type { Salt } from '../../../../src/server/reports/tunnel/visitors.ts';
import { createVisitors, NO_DAY } from '../../../../src/server/reports/tunnel/visitors.ts';
import { Day, Hour, Minute } from '../../../../src/shared/units.ts';

const TODAY = 20_000;
const ADDRESS = '192.0.2.1';

/** A store that several processes use, and that can become unavailable. */
function createFakeStore() {
  const salts: Salt[] = [];
  const store = {
    salts,
    isAway: false,
    /** Set if the journal's disk accepts no writes. */
    isFull: false,
    now: TODAY * Day + 12 * Hour,
    /** The salts that processes recorded, in order. */
    kept: [] as Salt[],
    start: () =>
      createVisitors({
        now: () => store.now,
        async readSalts(offers) {
          if (store.isAway) throw new Error('away');
          for (const offer of offers) if (!salts.some(({ day }) => day === offer.day)) salts.push(offer);
          return [...salts];
        },
        keepSalt(salt) {
          if (!store.isFull) store.kept.push(salt);
          return !store.isFull;
        },
      }),
  };
  return store;
}

describe('with salts from the store', () => {
  it('gives an address a new hash each day, and an id the same hash from every address, on all replicas', async () => {
    const store = createFakeStore();
    const [one, two] = [store.start(), store.start()];
    for (const { refresh } of [one, two]) await refresh();
    const first = one.toVisitor(ADDRESS);
    const ann = one.toVisitor(ADDRESS, 'ann');
    expect(first).toMatch(/^[\w-]{16}$/);
    expect(two.toVisitor(ADDRESS)).toBe(first);
    expect(two.toVisitor('192.0.2.2', 'ann')).toBe(ann);
    expect(new Set([first, ann, one.toVisitor('192.0.2.2'), one.toVisitor(ADDRESS, 'bob')]).size).toBe(4);
    expect(one.toVisitor('2001:db8::1')).toBe(one.toVisitor('2001:db8::2'));
    store.now += Day;
    expect(one.toVisitor(ADDRESS)).not.toBe(first);
    expect(one.toVisitor(ADDRESS, 'ann')).toBe(ann);
  });

  it("has the salt of the next day before it begins, and knows the visitor's ids of the day before", async () => {
    const store = createFakeStore();
    const { toVisitor, listOthers, refresh } = store.start();
    store.now = (TODAY + 1) * Day - Hour;
    await refresh();
    const before = toVisitor(ADDRESS);
    expect(listOthers(ADDRESS)).toEqual([]);
    store.isAway = true;
    store.now += Hour;
    expect(listOthers(ADDRESS)).toEqual([before]);
    expect(listOthers(ADDRESS, 'ann')).toEqual([]);
    expect(store.kept).toEqual([]);
    store.isAway = false;
    store.now += 2 * Day;
    await refresh();
    expect(listOthers(ADDRESS)).toEqual([]);
  });

  it('records a salt that the store lost', async () => {
    const store = createFakeStore();
    const { toVisitor, listOthers, refresh } = store.start();
    await refresh();
    const [mine] = [toVisitor(ADDRESS)];
    const lost = store.salts.splice(0).filter(({ day }) => day === TODAY);
    store.salts.push({ day: TODAY, salt: 'another' });
    await refresh();
    expect(store.kept).toEqual(expect.arrayContaining(lost));
    expect(toVisitor(ADDRESS)).not.toBe(mine);
    expect(listOthers(ADDRESS)).toEqual([mine]);
  });
});

describe('while the store is unavailable', () => {
  it("records each local salt before using it, and switches to the store's salts when it can", async () => {
    const store = createFakeStore();
    store.isAway = true;
    const { toVisitor, listOthers, refresh } = store.start();
    await expect(refresh()).rejects.toThrow('away');
    const mine = toVisitor(ADDRESS);
    expect(store.kept).toEqual([{ day: TODAY, salt: expect.stringMatching(/^[\w-]{43}$/) }]);
    toVisitor('192.0.2.2');
    expect(store.kept).toHaveLength(1);
    const ann = toVisitor(ADDRESS, 'ann');
    expect(store.kept[1]).toEqual({ day: NO_DAY, salt: expect.stringMatching(/^[\w-]{43}$/) });

    store.now += Minute;
    store.isAway = false;
    // Another replica stored its salts first.
    for (const day of [NO_DAY, TODAY]) store.salts.push({ day, salt: 'of the other' });
    await refresh();
    expect(toVisitor(ADDRESS)).not.toBe(mine);
    expect(listOthers(ADDRESS)).toEqual([mine]);
    expect(listOthers(ADDRESS, 'ann')).toEqual([ann]);
  });

  it('keeps its local salts if the store has no others', async () => {
    const store = createFakeStore();
    const { toVisitor, listOthers, refresh } = store.start();
    const asked = refresh();
    const mine = toVisitor(ADDRESS);
    await asked;
    expect(toVisitor(ADDRESS)).toBe(mine);
    expect(listOthers(ADDRESS)).toEqual([]);
  });

  it('records no salt that it did not use', async () => {
    const store = createFakeStore();
    await store.start().refresh();
    await store.start().refresh();
    expect(store.kept).toEqual([]);
    expect(store.salts.map(({ day }) => day)).toEqual([NO_DAY, TODAY]);
  });

  it('records a salt again if the journal could not store it', () => {
    const store = createFakeStore();
    const { toVisitor } = store.start();
    store.isFull = true;
    const mine = toVisitor(ADDRESS);
    store.isFull = false;
    expect(toVisitor(ADDRESS)).toBe(mine);
    expect(store.kept).toHaveLength(1);
  });
});
