import { BoundedMap } from '../request/bounded-map.ts';

/** What the requests of an API share: counts for limits. */
export interface ApiStore {
  /** Counts a request in a window of time. Resolves to the count, this one included. */
  count(key: string, window: { readonly startsAt: number; readonly endsAt: number }): Promise<number>;
}

/** The most counts in memory. Beyond that, the oldest are dropped. */
const MAX_COUNTS = 10_000;

/** An `ApiStore` in memory, for one server. A restart empties it. */
export function createMemoryStore(): ApiStore {
  const counts = new BoundedMap<{ readonly startsAt: number; readonly count: number }>(MAX_COUNTS);
  return {
    async count(key, { startsAt }) {
      const last = counts.get(key);
      const count = last?.startsAt === startsAt ? last.count + 1 : 1;
      counts.set(key, { startsAt, count });
      return count;
    },
  };
}

/** A pool of `pg`, or anything with its `query`. */
interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

/** The lock is for replicas that start together: `IF NOT EXISTS` alone fails for all but one of them. */
const TABLE = `
  SELECT pg_advisory_xact_lock(hashtext('spillway_api'));
  CREATE TABLE IF NOT EXISTS spillway_api_counts
    (key text PRIMARY KEY, starts_at bigint NOT NULL, ends_at bigint NOT NULL, count int NOT NULL);
  CREATE INDEX IF NOT EXISTS spillway_api_counts_ends_at ON spillway_api_counts (ends_at)`;

/** One in so many calls deletes expired rows. */
const SWEEP_EVERY = 1000;

/**
 * An `ApiStore` in PostgreSQL, for several replicas: `createPostgresStore(services.pool)`. It creates its table,
 * `spillway_api_counts`, with the first request that needs it.
 *
 * @param now milliseconds since 1970
 */
export function createPostgresStore(pool: PostgresPool, now: () => number = Date.now): ApiStore {
  let table: Promise<unknown> | undefined;
  let calls = 0;
  return {
    async count(key, { startsAt, endsAt }) {
      table ??= pool.query(TABLE).catch((error: unknown) => {
        table = undefined;
        throw error;
      });
      await table;
      calls += 1;
      if (calls % SWEEP_EVERY === 0) await pool.query('DELETE FROM spillway_api_counts WHERE ends_at < $1', [now()]);
      const { rows } = await pool.query(
        `INSERT INTO spillway_api_counts AS c VALUES ($1, $2, $3, 1) ON CONFLICT (key) DO UPDATE
           SET count = CASE WHEN c.starts_at = $2 THEN c.count + 1 ELSE 1 END, starts_at = $2, ends_at = $3
         RETURNING count`,
        [key, startsAt, endsAt],
      );
      return Number(rows[0]?.count);
    },
  };
}
