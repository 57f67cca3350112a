import { expect, it } from 'vitest';
import { Hour, Minute } from '../../../../src/shared/units.ts';
import { describeStores, retain } from '../../../support/stores.ts';

const ada = { name: 'ada', role: 'operator', fingerprint: 'f1' } as const;
const bob = { name: 'bob', role: 'viewer', fingerprint: 'f2' } as const;

describeStores('sessions', (open) => {
  it('are valid until they end or expire', async () => {
    const { store, driver } = await open();
    const before = Date.now() - Minute;
    await store.createSession('hash 1', ada, 12 * Hour);
    await store.createSession('hash 2', bob, 12 * Hour);
    const session = await store.readSession('hash 1');
    expect(session).toMatchObject(ada);
    expect(session?.createdAt).toBeGreaterThan(before);
    expect((session?.expiresAt ?? 0) - (session?.createdAt ?? 0)).toBe(12 * Hour);
    expect(await store.readSession('hash 3')).toBeUndefined();
    expect(await store.endSession('hash 1')).toBe(true);
    expect(await store.endSession('hash 1')).toBe(false);
    expect(await store.readSession('hash 1')).toBeUndefined();
    await driver.run('UPDATE desk_sessions SET expires_at = expires_at - ?', [12 * Hour + Minute]);
    expect(await store.readSession('hash 2')).toBeUndefined();
    await retain(store);
    expect(await driver.all('SELECT 1 FROM desk_sessions')).toEqual([]);
  });

  it('are created once per link, within 15 minutes', async () => {
    const { store, driver } = await open();
    await store.createLink('link 1', ada);
    const taken = await Promise.all([store.takeLink('link 1'), store.takeLink('link 1')]);
    expect(taken.filter((grant) => grant !== undefined)).toEqual([ada]);
    await store.createLink('link 2', ada);
    await driver.run('UPDATE desk_links SET expires_at = expires_at - ?', [15 * Minute]);
    expect(await store.takeLink('link 2')).toBeUndefined();
  });

  it('count attempts by sender and in total, within a minute', async () => {
    const { store, driver } = await open();
    // The minute can end in the middle of this test. Then all counts move to the next minute.
    const countAgain = async () => {
      await driver.run('DELETE FROM desk_attempts');
      const counts = [];
      for (const [wrong, inTotal] of [
        [[['a', 2]], 2],
        [
          [
            ['b', 1],
            ['a', 3],
          ],
          5,
        ],
        [[], 4],
      ] as const) {
        const { bySender, inTotal: total } = await store.countAttempts(wrong, inTotal);
        counts.push({ ...Object.fromEntries(bySender), total });
      }
      return counts;
    };
    const expected = [{ a: 2, total: 2 }, { a: 5, b: 1, total: 7 }, { total: 11 }];
    await expect.poll(countAgain, { timeout: 5000 }).toEqual(expected);
    await driver.run('UPDATE desk_attempts SET minute = minute - 10');
    expect(await store.countAttempts([['b', 1]], 1)).toEqual({ bySender: [['b', 1]], inTotal: 1 });
    await retain(store);
    expect(await driver.all('SELECT 1 FROM desk_attempts')).toHaveLength(2);
  });

  it('count attempts of several replicas simultaneously', async () => {
    const { store, driver } = await open();
    const senders = Array.from({ length: 200 }, (_, index) => [`sender ${index}`, 1] as const);
    const countTogether = async () => {
      await driver.run('DELETE FROM desk_attempts');
      const orders = [senders, [...senders].reverse()];
      await Promise.all([...orders, ...orders].map((order) => store.countAttempts(order, 200)));
      const { bySender, inTotal } = await store.countAttempts(senders, 200);
      return [bySender.length, bySender.every(([, count]) => count === 5), inTotal];
    };
    await expect.poll(countTogether, { timeout: 10_000 }).toEqual([200, true, 1000]);
  });
});
