import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import request from 'supertest';
import { expect, it } from 'vitest';
import { addNote } from '#product-server/notes.ts';
import { openApp } from '../../../support/product/open-app.ts';
import { createTestSettings } from '../../../support/product/test-settings.ts';
import { addUser, openTestServices, startSession } from '../../../support/product/visitor.ts';

const { DATABASE_URL } = await createTestSettings();

it.skipIf(!DATABASE_URL)(
  'PostgreSQL cancels slow queries, and busy pages say 503 until then',
  async () => {
    const { services } = await openTestServices();
    const { db } = services;
    const { app, failures } = await openApp({ services });
    const user = await addUser(services);
    const cookie = await startSession(services, user);
    async function sleepInNotes() {
      await sql`SELECT pg_sleep(30) AS nap`.execute(db);
    }
    const started = performance.now();
    const errors = Promise.all(Array.from({ length: 10 }, () => sleepInNotes().catch((error: Error) => error)));
    await setTimeout(200);
    for (const get of await Promise.all(['/notes', '/'].map((path) => request(app).get(path).set({ cookie })))) {
      expect([get.status, get.headers['retry-after'], get.headers['x-error-digest']]).toEqual([503, '5', undefined]);
    }
    const [error] = await errors;
    expect(error?.message).toMatch(
      /^The database took longer than 5 s .* raise QUERY_TIME in src\/server\/product\/dat/,
    );
    expect(error?.stack?.match(/at (?:async )?sleepInNotes/g)).toHaveLength(1);
    expect(performance.now() - started).toBeLessThan(8000);
    await addNote(db, user, 'The connections work.');
    const { rows } = await sql`SELECT 1 FROM pg_stat_activity WHERE query LIKE '%AS nap' AND state = 'active'`.execute(
      db,
    );
    expect([rows, await failures()]).toEqual([[], []]);
  },
  60_000,
);
