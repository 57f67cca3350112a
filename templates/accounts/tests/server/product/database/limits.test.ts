import { sql } from 'kysely';
import request from 'supertest';
import { expect, it } from 'vitest';
import { openApp } from '../../../support/product/open-app.ts';
import { createTestSettings } from '../../../support/product/test-settings.ts';
import { addUser, openTestServices, startSession } from '../../../support/product/visitor.ts';

const { DATABASE_URL } = await createTestSettings();

it.skipIf(!DATABASE_URL)('PostgreSQL cancels a slow query, and its error says which limit that is', async () => {
  const { db } = (await openTestServices()).services;
  async function sleep() {
    await sql`SELECT pg_sleep(60) AS nap`.execute(db);
  }
  const error = await sleep().catch((thrown: Error) => thrown);
  expect(error?.message).toMatch(/^The database took longer than 5 s .* raise QUERY_TIME in src\/server\/product\/dat/);
  expect(error?.stack?.match(/at (?:async )?sleep /g)).toHaveLength(1);
  const { rows } = await sql`SELECT 1 FROM pg_stat_activity WHERE query LIKE '%AS nap' AND state = 'active'`.execute(
    db,
  );
  expect(rows).toEqual([]);
});

it.skipIf(!DATABASE_URL)('pages are busy while all connections are in use, which operators learn', async () => {
  const { services } = await openTestServices();
  const { app, failures } = await openApp({ services });
  const cookie = await startSession(services, await addUser(services));
  const get = (path: string) => request(app).get(path).set({ cookie });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let held: Promise<void>[] = [];
  await new Promise<void>((resolve) => {
    let count = 0;
    async function hold() {
      count += 1;
      if (count === 10) resolve();
      await released;
    }
    held = Array.from({ length: 10 }, () => services.db.connection().execute(hold));
  });
  for (const { status, headers } of await Promise.all([get('/notes'), get('/')])) {
    expect([status, headers['retry-after'], headers['x-error-digest']]).toEqual([503, '5', undefined]);
  }
  release();
  await Promise.all(held);
  await get('/notes').expect(200);
  const warning = expect.stringMatching(/^\w{8} Error: All connections to the database were in use for 3 s\.$/);
  expect([...new Set(await failures())]).toEqual([warning]);
});
