import { expect, it } from 'vitest';
import { createApiStore } from '#product-server/api/create-api-store.ts';
import { useDatabase } from '../../../support/product/test-database.ts';
import { createVisitor } from '../../../support/product/visitor.ts';

const database = useDatabase();

it('counts requests, in PostgreSQL if the app uses it', async () => {
  const { settings, services } = createVisitor(database.db).context;
  const isPostgres = process.env.TEST_DATABASE === 'postgres';
  const parts = {
    settings: { ...settings, databaseUrl: isPostgres ? 'postgres://app.example/app' : undefined },
    services,
  };
  const window = { startsAt: 0, endsAt: Date.now() + 60_000 };
  const store = createApiStore(parts);
  expect([await store.count('one', window), await store.count('one', window)]).toEqual([1, 2]);
  const another = createApiStore(parts);
  expect(await another.count('one', window)).toBe(isPostgres ? 3 : 1);
});
