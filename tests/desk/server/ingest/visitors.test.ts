import { describe, expect, it } from 'vitest';
import { createVisitors, NO_DAY, type Salt } from '../../../../src/desk/server/ingest/visitors.ts';
import { Day, Hour } from '../../../../src/shared/units.ts';

const clock = (at: number) => {
  const time = { at, now: () => time.at };
  return time;
};
const away = () => Promise.reject(new Error('away'));

describe('visitors', () => {
  const TODAY = 20_000;
  const ADDRESS = '192.0.2.1';
  type Visitors = ReturnType<typeof createVisitors>;
  const hash = ({ toVisitor }: Visitors, address = ADDRESS, id?: string) => toVisitor({ address, id });

  /** Replicas on a store that can become unavailable. */
  async function start() {
    const time = clock(TODAY * Day + 12 * Hour);
    const store = { salts: [] as Salt[], isAway: false };
    const readSalts = async (offers: readonly Salt[]) => {
      if (store.isAway) return away();
      for (const offer of offers) if (!store.salts.some(({ day }) => day === offer.day)) store.salts.push(offer);
      return [...store.salts];
    };
    const [one, two] = [1, 2].map(() => createVisitors({ now: time.now, readSalts }));
    if (!one || !two) throw new Error('There are two.');
    return { store, time, one, two };
  }

  it('have a new hash of the address each day, and the same hash of an id, on all replicas', async () => {
    const { one, two, time } = await start();
    for (const { refresh } of [one, two]) await refresh();
    const first = hash(one);
    const ann = hash(one, ADDRESS, 'ann');
    expect(first).toMatch(/^[\w-]{16}$/);
    expect([hash(two), hash(two, '192.0.2.2', 'ann')]).toEqual([first, ann]);
    expect(new Set([first, ann, hash(one, '192.0.2.2'), hash(one, ADDRESS, 'bob')]).size).toBe(4);
    expect(hash(one, '2001:db8::1')).toBe(hash(one, '2001:db8::2'));
    time.at += Day;
    expect([hash(one) === first, hash(one, ADDRESS, 'ann')]).toEqual([false, ann]);
  });

  it('are told apart while the store is unavailable, and have its salts when it is back', async () => {
    const { one, store } = await start();
    store.isAway = true;
    await expect(one.refresh()).rejects.toThrow('away');
    const mine = hash(one);
    expect([hash(one), hash(one, '192.0.2.2') === mine]).toEqual([mine, false]);
    store.isAway = false;
    for (const day of [NO_DAY, TODAY]) store.salts.push({ day, salt: 'of another replica' });
    await one.refresh();
    expect(hash(one)).not.toBe(mine);
  });
});
