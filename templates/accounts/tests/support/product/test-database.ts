import { randomUUID } from 'node:crypto';
import type { ControlledTransaction } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { createPostgresDatabase } from '#engine/testing';
import type { User } from '#product-server/accounts/users.ts';
import { openDatabase } from '#product-server/database/open-database.ts';
import type { Database, Tables } from '#product-server/database/tables.ts';

export interface TestDatabase {
  /** Has your tables, and no rows. What a test changes is rolled back at its end. */
  readonly db: Database;
}

/** Opens a database for the tests of a file: SQLite, or PostgreSQL with `TEST_DATABASE=postgres npm test`. */
export function useDatabase(): TestDatabase {
  let opened: Database;
  let db: ControlledTransaction<Tables>;
  beforeAll(async () => {
    opened = await openDatabase(await createEmptyDatabase());
  });
  beforeEach(async () => {
    db = await opened.startTransaction().execute();
  });
  afterEach(() => db.rollback().execute());
  afterAll(() => opened.destroy());
  return {
    get db() {
      return db;
    },
  };
}

/** Returns where to open an empty database. */
export async function createEmptyDatabase(databaseFile = ':memory:') {
  const isPostgres = process.env.TEST_DATABASE === 'postgres';
  return { databaseFile, databaseUrl: isPostgres ? await createPostgresDatabase() : undefined };
}

/** Adds a user without a password. */
export async function addUser(db: Database, email = 'ada@example.com'): Promise<User> {
  const user = { id: randomUUID(), email };
  const createdAt = new Date().toISOString();
  await db
    .insertInto('users')
    .values({ ...user, passwordHash: 'none', createdAt })
    .execute();
  return user;
}
