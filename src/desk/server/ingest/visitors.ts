import { createHmac, randomBytes } from 'node:crypto';
import { toSender } from '#engine/server';
import type { Visitor } from '#engine/tracker';
import { Day, Hour, Second } from '../../../shared/units.ts';

/** A random key that visitors are hashed with. */
export interface Salt {
  /** The day whose addresses it hashes (days since 1970, UTC), or `NO_DAY` for ids from the product's `visitorId`. */
  readonly day: number;
  readonly salt: string;
}

/** Means no day, because a primary key cannot be NULL. */
export const NO_DAY = 0;

/** How often the salts are read again (ms), so that a process soon notices that the database was replaced. */
const REFRESH_INTERVAL = 1 * Hour;
/** The same while the store does not answer (ms). */
const RETRY_INTERVAL = 5 * Second;
/** How long before a day its salt is read (ms). Longer than the refresh interval. */
const AHEAD = 2 * Hour;

/** Returns the hash of an address, or of the /64 network of an IPv6 address, or of an id. */
export function toVisitorHash({ day, salt }: Salt, text: string): string {
  const words = day === NO_DAY ? text : toSender(text);
  return createHmac('sha256', salt).update(words).digest('base64url').slice(0, 16);
}

interface VisitorsOptions {
  /**
   * Returns the salts that all replicas use.
   *
   * @param offers become the salts of days without one
   * @param used are stored too, so that `forget` finds what was hashed with them
   */
  readonly readSalts: (offers: readonly Salt[], used: readonly Salt[]) => Promise<readonly Salt[]>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * Distinguishes visitors without storing who they are. It uses a salted hash of the address, which changes daily, or a
 * keyed hash of the product's id, which stays the same. While the salts cannot be read, this process uses its own, so a
 * visitor can count twice.
 */
export function createVisitors({ readSalts, now = Date.now }: VisitorsOptions) {
  const salts = new Map<number, string>();
  /** Salts that hashed a visitor before the store had them, with their days. */
  const unstored = new Map<string, number>();
  const stored = new Set<string>();
  let askedAt = 0;

  function find(day: number): string {
    const salt = salts.get(day) ?? randomBytes(32).toString('base64url');
    salts.set(day, salt);
    return salt;
  }

  function hash(day: number, text: string): string {
    const salt = find(day);
    if (!stored.has(salt)) unstored.set(salt, day);
    return toVisitorHash({ day, salt }, text);
  }

  /** Reads the salts again. Rejects if the store does not answer. */
  async function refresh(): Promise<void> {
    // In a new store, the offers become the salts.
    const days = new Set([NO_DAY, toDay(now()), toDay(now() + AHEAD)]);
    const offers = [...days].map((day) => ({ day, salt: find(day) }));
    const used = [...unstored].map(([salt, day]) => ({ day, salt }));
    const read = await readSalts(offers, used);
    stored.clear();
    for (const { day, salt } of read) {
      salts.set(day, salt);
      stored.add(salt);
    }
    for (const { salt } of [...used, ...read]) unstored.delete(salt);
    for (const day of salts.keys()) if (day !== NO_DAY && day < toDay(now())) salts.delete(day);
  }

  function refreshIfDue(): void {
    // Uses the wall clock, because a machine can sleep. `abs`, because the clock can be set back.
    if (Math.abs(now() - askedAt) < REFRESH_INTERVAL) return;
    askedAt = now();
    const askSoon = () => {
      askedAt = 0;
    };
    // A failure can have used another salt while these were read.
    refresh().then(() => unstored.size > 0 && askSoon(), askSoon);
  }

  return {
    /** Hashes an address, or the product's id. */
    toVisitor: ({ address, id }: Visitor): string =>
      id === undefined ? hash(toDay(now()), address) : hash(NO_DAY, id),
    refresh,
    /** Reads the salts now, and whenever they are due. */
    start(): void {
      refreshIfDue();
      setInterval(refreshIfDue, RETRY_INTERVAL).unref();
    },
  };
}

/** Returns the day (days since 1970, UTC). @param at milliseconds since 1970 */
function toDay(at: number): number {
  return Math.floor(at / Day);
}
