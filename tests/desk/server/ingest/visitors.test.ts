import { expect, it } from 'vitest';
import { createVisitors, type Salt } from '../../../../src/desk/server/ingest/visitors.ts';
import { Day, Hour } from '../../../../src/shared/units.ts';

it('visitors have a new hash of the address each day, and the same hash of an id, on all replicas', async () => {
  let at = 20_000 * Day + 12 * Hour;
  const salts: Salt[] = [];
  const readSalts = async (offers: readonly Salt[]) => {
    for (const offer of offers) if (!salts.some(({ day }) => day === offer.day)) salts.push(offer);
    return [...salts];
  };
  const replicas = [1, 2].map(() => createVisitors({ now: () => at, readSalts }));
  const refresh = () => Promise.all(replicas.map((replica) => replica.refresh()));
  await refresh();
  const hash = (address: string, id?: string) => {
    const [one, other] = replicas.map(({ toVisitor }) => toVisitor({ address, id }));
    expect(other).toBe(one);
    return one;
  };
  const first = hash('192.0.2.1');
  const ann = hash('192.0.2.1', 'ann');
  expect(first).toMatch(/^[\w-]{16}$/);
  expect(hash('192.0.2.2', 'ann')).toBe(ann);
  expect(new Set([first, ann, hash('192.0.2.2'), hash('192.0.2.1', 'bob')]).size).toBe(4);
  expect(hash('2001:db8::1')).toBe(hash('2001:db8::2'));
  at += Day;
  await refresh();
  expect([hash('192.0.2.1') === first, hash('192.0.2.1', 'ann')]).toEqual([false, ann]);
});
