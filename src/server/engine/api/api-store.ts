import { Day, Minute } from '../../../shared/units.ts';
import type { AnyReply } from './implement.ts';

/** A reply that is sent again for the same `Idempotency-Key`. */
export type KeptReply = Omit<AnyReply, 'lines'>;

/** A request with an `Idempotency-Key` that came before. */
export interface KeptRequest {
  /** Identifies the method, the URL and the body. */
  readonly fingerprint: string;
  /** Undefined while the request runs. */
  readonly reply: KeptReply | undefined;
}

/** What the requests of an API share: counts for limits, and replies by `Idempotency-Key`. */
export interface ApiStore {
  /** Counts a request in a window of time. Resolves to the count, this one included. */
  count(key: string, window: { readonly startsAt: number; readonly endsAt: number }): Promise<number>;
  /** Claims a key for a request. Resolves to the request that has it already; undefined if this one may run. */
  claim(key: string, fingerprint: string): Promise<KeptRequest | undefined>;
  /** Keeps the reply for a day. */
  keep(key: string, reply: KeptReply): Promise<void>;
  /** Gives a key back, because its request failed. */
  release(key: string): Promise<void>;
}

/** How long a reply is kept (ms). */
const KEPT_FOR = 1 * Day;
/** How long a claim lasts if its process dies (ms). */
const CLAIMED_FOR = 5 * Minute;
/** The most counts and the most replies in memory. Beyond that, the oldest are dropped. */
const MAX_ENTRIES = 10_000;

/** An `ApiStore` in memory, for one server. A restart empties it. @param now milliseconds since 1970 */
export function createMemoryStore(now: () => number = Date.now): ApiStore {
  const counts = new Map<string, { startsAt: number; count: number }>();
  const requests = new Map<string, KeptRequest & { readonly endsAt: number }>();

  return {
    async count(key, { startsAt }) {
      const last = counts.get(key);
      const count = last?.startsAt === startsAt ? last.count + 1 : 1;
      put(counts, key, { startsAt, count });
      return count;
    },
    async claim(key, fingerprint) {
      const kept = requests.get(key);
      if (kept && kept.endsAt > now()) return kept;
      put(requests, key, { fingerprint, reply: undefined, endsAt: now() + CLAIMED_FOR });
      return undefined;
    },
    async keep(key, reply) {
      const claimed = requests.get(key);
      if (claimed) put(requests, key, { ...claimed, reply, endsAt: now() + KEPT_FOR });
    },
    async release(key) {
      requests.delete(key);
    },
  };
}

/** Adds an entry as the newest, and drops the oldest if there are too many. */
function put<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MAX_ENTRIES && oldest !== undefined) map.delete(oldest);
}

/** A pool of `pg`, or anything with its `query`. */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

/** The lock is for replicas that start together: `IF NOT EXISTS` alone fails for all but one of them. */
const TABLES = `
  SELECT pg_advisory_xact_lock(hashtext('spillway_api'));
  CREATE TABLE IF NOT EXISTS spillway_api_counts
    (key text PRIMARY KEY, starts_at bigint NOT NULL, ends_at bigint NOT NULL, count int NOT NULL);
  CREATE TABLE IF NOT EXISTS spillway_api_requests
    (key text PRIMARY KEY, fingerprint text NOT NULL, reply text, ends_at bigint NOT NULL);
  CREATE INDEX IF NOT EXISTS spillway_api_counts_ends_at ON spillway_api_counts (ends_at);
  CREATE INDEX IF NOT EXISTS spillway_api_requests_ends_at ON spillway_api_requests (ends_at)`;

/** One in so many calls deletes expired rows. */
const SWEEP_EVERY = 1000;

/**
 * An `ApiStore` in PostgreSQL, for several replicas: `createPostgresStore(services.pool)`. It creates its two tables,
 * `spillway_api_counts` and `spillway_api_requests`, with the first request that needs them.
 *
 * @param now milliseconds since 1970
 */
export function createPostgresStore(pool: PostgresPool, now: () => number = Date.now): ApiStore {
  let tables: Promise<unknown> | undefined;
  let calls = 0;

  async function run(text: string, values: unknown[]): Promise<Record<string, unknown>[]> {
    tables ??= pool.query(TABLES).catch((error: unknown) => {
      tables = undefined;
      throw error;
    });
    await tables;
    calls += 1;
    if (calls % SWEEP_EVERY === 0) {
      for (const table of ['counts', 'requests'])
        await pool.query(`DELETE FROM spillway_api_${table} WHERE ends_at < $1`, [now()]);
    }
    return (await pool.query(text, values)).rows;
  }

  return {
    async count(key, { startsAt, endsAt }) {
      const [row] = await run(
        `INSERT INTO spillway_api_counts AS c VALUES ($1, $2, $3, 1) ON CONFLICT (key) DO UPDATE
           SET count = CASE WHEN c.starts_at = $2 THEN c.count + 1 ELSE 1 END, starts_at = $2, ends_at = $3
         RETURNING count`,
        [key, startsAt, endsAt],
      );
      return Number(row?.count);
    },
    async claim(key, fingerprint) {
      const claimed = await run(
        `INSERT INTO spillway_api_requests AS r VALUES ($1, $2, NULL, $3) ON CONFLICT (key) DO UPDATE
           SET fingerprint = $2, reply = NULL, ends_at = $3 WHERE r.ends_at <= $4
         RETURNING key`,
        [key, fingerprint, now() + CLAIMED_FOR, now()],
      );
      if (claimed.length > 0) return undefined;
      const [row] = await run('SELECT fingerprint, reply FROM spillway_api_requests WHERE key = $1', [key]);
      if (!row) return this.claim(key, fingerprint); // it was given back in the meantime
      const reply = typeof row.reply === 'string' ? (JSON.parse(row.reply) as KeptReply) : undefined; // from `keep`
      return { fingerprint: String(row.fingerprint), reply };
    },
    async keep(key, reply) {
      const values = [key, JSON.stringify(reply), now() + KEPT_FOR];
      await run('UPDATE spillway_api_requests SET reply = $2, ends_at = $3 WHERE key = $1', values);
    },
    async release(key) {
      await run('DELETE FROM spillway_api_requests WHERE key = $1', [key]);
    },
  };
}
