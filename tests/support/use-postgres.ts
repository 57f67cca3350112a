import { afterAll, beforeAll } from 'vitest';
import { startPostgres, type TestPostgres } from './postgres.ts';

/**
 * A PostgreSQL for all tests of a file, which goes with its folder when they are over. To be called
 * outside of hooks: Vitest forgets what a hook registers.
 */
export function usePostgres(): TestPostgres {
  const cleanups: (() => unknown)[] = [];
  let postgres: TestPostgres | undefined;
  const use = () => {
    if (!postgres) throw new Error('PostgreSQL is started by the hooks of this file, which have not run yet.');
    return postgres;
  };
  beforeAll(async () => {
    postgres = await startPostgres((clean) => cleanups.push(clean));
  }, 90_000);
  afterAll(async () => {
    for (const clean of cleanups.reverse()) await clean();
  }, 30_000);
  return {
    createDatabase: () => use().createDatabase(),
    start: () => use().start(),
    stop: () => use().stop(),
  };
}
