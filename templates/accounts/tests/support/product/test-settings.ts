import { createPostgresDatabase } from '#engine/testing';

/**
 * Returns the settings of each app and server that your tests open, with an empty database: SQLite in its folder, or
 * PostgreSQL with `TEST_DATABASE=postgres npm test`. If your app needs PostgreSQL, remove the condition.
 */
export async function createTestSettings(): Promise<Readonly<Record<string, string>>> {
  if (process.env.TEST_DATABASE !== 'postgres') return {};
  return { DATABASE_URL: await createPostgresDatabase() };
}
