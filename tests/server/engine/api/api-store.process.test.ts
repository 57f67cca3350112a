import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ApiStore, createMemoryStore, createPostgresStore } from '../../../../src/server/engine/api/api-store.ts';
import { Day, Minute } from '../../../../src/shared/units.ts';
import { usePostgres } from '../../../support/use-postgres.ts';

const postgres = usePostgres();
const reply = { status: 201, headers: { Location: '/api/orders/1' }, body: { id: 1 } };

async function createTwo(now: () => number): Promise<[ApiStore, ApiStore]> {
  const connectionString = await postgres.createDatabase();
  const open = () => {
    const pool = new pg.Pool({ connectionString, max: 3 });
    onTestFinished(() => pool.end());
    return createPostgresStore(pool, now);
  };
  return [open(), open()];
}

describe.each<[string, (now: () => number) => Promise<[ApiStore, ApiStore]>]>([
  [
    'in memory',
    async (now) => {
      const store = createMemoryStore(now);
      return [store, store];
    },
  ],
  ['in PostgreSQL, of two replicas', createTwo],
])('the store of an API, %s', (_name, create) => {
  it('counts by key, and from the start in the next window', async () => {
    const [one, two] = await create(() => 0);
    const window = { startsAt: 0, endsAt: Minute };
    const counts = await Promise.all([one, two, one, two].map((store) => store.count('ada', window)));
    expect(counts.sort()).toEqual([1, 2, 3, 4]);
    expect(await one.count('grace', window)).toBe(1);
    expect(await two.count('ada', { startsAt: Minute, endsAt: 2 * Minute })).toBe(1);
  });

  it('lets one of several requests run, and keeps its reply for a day', async () => {
    let now = 0;
    const [one, two] = await create(() => now);
    const claims = await Promise.all([one, two, one].map((store) => store.claim('key', 'print')));
    expect(claims.filter((claim) => claim === undefined)).toHaveLength(1);
    expect(await two.claim('key', 'other')).toMatchObject({ fingerprint: 'print', reply: undefined });
    await one.keep('key', reply);
    now = Day - 1;
    expect(await two.claim('key', 'print')).toMatchObject({ fingerprint: 'print', reply });
    await two.keep('another', reply); // dropped, or never claimed
    expect(await one.claim('another', 'print')).toBeUndefined();
    now = Day + 1;
    expect(await two.claim('key', 'print')).toBeUndefined();
  });

  it('gives a key back if its request fails, or its process dies', async () => {
    let now = 0;
    const [one, two] = await create(() => now);
    await one.claim('key', 'print');
    await one.release('key');
    expect(await two.claim('key', 'print')).toBeUndefined();
    now = 6 * Minute;
    expect(await one.claim('key', 'print')).toBeUndefined();
  });
});
