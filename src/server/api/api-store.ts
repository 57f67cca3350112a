import { Day, KiB, MiB, Minute } from '../../shared/units.ts';
import { BoundedMap } from '../request/bounded-map.ts';
import type { AnyReply } from './implement.ts';

/** A reply that is sent again for the same `Idempotency-Key`. */
type KeptReply = Omit<AnyReply, 'lines'>;

/** A request with an `Idempotency-Key` that came before. */
interface KeptRequest {
  /** Identifies the method, the URL and the body. */
  readonly fingerprint: string;
  /** Undefined while the request runs. */
  readonly reply: KeptReply | undefined;
}

/** The run of a request with an `Idempotency-Key`. */
interface Claim {
  /** Differs for each run. A run that took too long has lost its key, and must not change the reply of the next run. */
  readonly id: string;
  /** The caller, or the address of a request without one. */
  readonly sender: string;
}

/** What the requests of an API share: counts for limits, and replies by `Idempotency-Key`. */
export interface ApiStore {
  /** Counts a request in a window of time. Resolves to the count, this one included. */
  count(key: string, window: { readonly startsAt: number; readonly endsAt: number }): Promise<number>;
  /** Claims a key for a request. Resolves to the request that has it already; undefined if this one may run. */
  claim(key: string, fingerprint: string, claim?: Claim): Promise<KeptRequest | undefined>;
  /** Keeps the reply for a day, unless another run has the key. */
  keep(key: string, reply: KeptReply, claim?: Claim): Promise<void>;
  /** Gives a key back because its request failed, unless another run has it. */
  release(key: string, claim?: Claim): Promise<void>;
}

/** How long a reply is kept (ms). */
const KEPT_FOR = 1 * Day;
/** How long a claim lasts if its process dies (ms). */
const CLAIMED_FOR = 5 * Minute;
/** The most counts in memory. */
const MAX_COUNTS = 10_000;
/** Replies in memory (bytes), and what each takes besides its JSON (bytes), which also bounds their number. */
const MAX_REPLY_BYTES = 64 * MiB;
const REPLY_OVERHEAD = 4 * KiB;

/** An `ApiStore` in memory, for one server. A restart empties it. */
export function createMemoryStore(): ApiStore {
  const counts = new BoundedMap<{ startsAt: number; count: number }>(MAX_COUNTS);
  const requests = new RequestsInMemory();

  return {
    async count(key, { startsAt }) {
      const last = counts.get(key);
      const count = last?.startsAt === startsAt ? last.count + 1 : 1;
      counts.set(key, { startsAt, count });
      return count;
    },
    async claim(key, fingerprint, claim) {
      const found = requests.find(key);
      if (!found) {
        requests.put(key, { fingerprint, text: undefined, claim, endsAt: Date.now() + CLAIMED_FOR });
        return undefined;
      }
      return { fingerprint: found.fingerprint, reply: parseReply(found.text) };
    },
    async keep(key, reply, claim) {
      const found = requests.find(key);
      if (!found || found.claim?.id !== claim?.id) return;
      requests.put(key, { ...found, text: JSON.stringify(reply), endsAt: Date.now() + KEPT_FOR });
    },
    async release(key, claim) {
      if (requests.find(key)?.claim?.id === claim?.id) requests.drop(key);
    },
  };
}

interface RequestInMemory {
  readonly fingerprint: string;
  /** The reply as JSON. Undefined while the request runs. */
  readonly text: string | undefined;
  readonly claim: Claim | undefined;
  readonly endsAt: number;
}

interface Share {
  /** Oldest first. */
  readonly keys: Set<string>;
  bytes: number;
}

/**
 * Requests by their key. If they take too much memory, the sender that has most loses its oldest. So senders cannot push
 * out the replies of others, which would let a repeated request run again.
 */
class RequestsInMemory {
  readonly #requests = new Map<string, RequestInMemory>();
  readonly #senders = new Map<string, Share>();
  #bytes = 0;

  find(key: string): RequestInMemory | undefined {
    const found = this.#requests.get(key);
    return found && found.endsAt > Date.now() ? found : undefined;
  }

  put(key: string, request: RequestInMemory): void {
    this.drop(key);
    const sender = this.#senders.get(senderOf(request)) ?? { keys: new Set(), bytes: 0 };
    this.#senders.set(senderOf(request), sender);
    this.#requests.set(key, request);
    sender.keys.add(key);
    sender.bytes += bytesOf(request);
    this.#bytes += bytesOf(request);
    this.#makeRoom(key);
  }

  drop(key: string): void {
    const request = this.#requests.get(key);
    if (!request) return;
    this.#requests.delete(key);
    this.#bytes -= bytesOf(request);
    const sender = this.#senders.get(senderOf(request));
    if (!sender) return;
    sender.bytes -= bytesOf(request);
    sender.keys.delete(key);
    if (sender.keys.size === 0) this.#senders.delete(senderOf(request));
  }

  /** Drops what has expired, and what is too much. The newest request stays, however large its reply is. */
  #makeRoom(newest: string): void {
    for (const [key, { endsAt }] of this.#requests) {
      if (endsAt > Date.now()) break;
      this.drop(key);
    }
    while (this.#bytes > MAX_REPLY_BYTES) {
      let largest: Share | undefined;
      for (const sender of this.#senders.values()) if (!largest || sender.bytes > largest.bytes) largest = sender;
      const [oldest = newest] = largest?.keys ?? [];
      if (oldest === newest) return;
      this.drop(oldest);
    }
  }
}

function senderOf({ claim }: RequestInMemory): string {
  return claim?.sender ?? '';
}

function bytesOf({ text = '' }: RequestInMemory): number {
  return REPLY_OVERHEAD + 2 * text.length; // UTF-16
}

function parseReply(text: unknown): KeptReply | undefined {
  return typeof text === 'string' ? (JSON.parse(text) as KeptReply) : undefined; // from `keep`
}

/** A pool of `pg`, or anything with its `query`. */
interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

/**
 * The lock is for replicas that start together: `IF NOT EXISTS` alone fails for all but one of them.
 */
const TABLES = `
  SELECT pg_advisory_xact_lock(hashtext('spillway_api'));
  CREATE TABLE IF NOT EXISTS spillway_api_counts
    (key text PRIMARY KEY, starts_at bigint NOT NULL, ends_at bigint NOT NULL, count int NOT NULL);
  CREATE TABLE IF NOT EXISTS spillway_api_requests
    (key text PRIMARY KEY, fingerprint text NOT NULL, reply text, ends_at bigint NOT NULL, claim text);
  CREATE INDEX IF NOT EXISTS spillway_api_counts_ends_at ON spillway_api_counts (ends_at);
  CREATE INDEX IF NOT EXISTS spillway_api_requests_ends_at ON spillway_api_requests (ends_at)`;

/** One in so many calls deletes expired rows. */
const SWEEP_EVERY = 1000;

/**
 * An `ApiStore` in PostgreSQL, for several replicas: `createPostgresStore(services.pool)`. It creates its two tables,
 * `spillway_api_counts` and `spillway_api_requests`, with the first request that needs them.
 */
export function createPostgresStore(pool: PostgresPool): ApiStore {
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
        await pool.query(`DELETE FROM spillway_api_${table} WHERE ends_at < $1`, [Date.now()]);
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
    async claim(key, fingerprint, claim) {
      const claimed = await run(
        `INSERT INTO spillway_api_requests AS r (key, fingerprint, ends_at, claim) VALUES ($1, $2, $3, $5)
           ON CONFLICT (key) DO UPDATE SET fingerprint = $2, reply = NULL, ends_at = $3, claim = $5
           WHERE r.ends_at <= $4
         RETURNING key`,
        [key, fingerprint, Date.now() + CLAIMED_FOR, Date.now(), claim?.id ?? null],
      );
      if (claimed.length > 0) return undefined;
      const [row] = await run('SELECT fingerprint, reply FROM spillway_api_requests WHERE key = $1', [key]);
      if (!row) return this.claim(key, fingerprint, claim); // it was given back in the meantime
      return { fingerprint: String(row.fingerprint), reply: parseReply(row.reply) };
    },
    async keep(key, reply, claim) {
      await run(
        'UPDATE spillway_api_requests SET reply = $2, ends_at = $3 WHERE key = $1 AND claim IS NOT DISTINCT FROM $4',
        [key, JSON.stringify(reply), Date.now() + KEPT_FOR, claim?.id ?? null],
      );
    },
    async release(key, claim) {
      await run('DELETE FROM spillway_api_requests WHERE key = $1 AND claim IS NOT DISTINCT FROM $2', [
        key,
        claim?.id ?? null,
      ]);
    },
  };
}
