import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { type ApiStore, createMemoryStore, createPostgresStore } from '../../../src/server/api/api-store.ts';
import { Minute } from '../../../src/shared/units.ts';
import { createPostgresDatabase } from '../../support/postgres.ts';

async function createTwo(): Promise<[ApiStore, ApiStore]> {
  const connectionString = await createPostgresDatabase();
  const open = () => {
    const pool = new pg.Pool({ connectionString, max: 3 });
    onTestFinished(() => pool.end());
    return createPostgresStore(pool);
  };
  return [open(), open()];
}

it.each<[string, () => Promise<[ApiStore, ApiStore]>]>([
  [
    'in memory',
    async () => {
      const store = createMemoryStore();
      return [store, store];
    },
  ],
  ['in PostgreSQL, of two replicas', createTwo],
])('the store of an API, %s, counts by key, and from the start in the next window', async (_name, create) => {
  const [one, two] = await create();
  const window = { startsAt: 0, endsAt: Minute };
  const counts = await Promise.all([one, two, one, two].map((store) => store.count('ada', window)));
  expect(counts.sort()).toEqual([1, 2, 3, 4]);
  expect(await one.count('grace', window)).toBe(1);
  expect(await two.count('ada', { startsAt: Minute, endsAt: 2 * Minute })).toBe(1);
});
