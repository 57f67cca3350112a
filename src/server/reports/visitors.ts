import { createHmac, randomBytes } from 'node:crypto';
import { Day, Hour } from '../../shared/units.ts';
import { toSender } from '../request/client-address.ts';

/** A random key that visitors are hashed with. */
export interface Salt {
  /** The day whose addresses it hashes (days since 1970, UTC), or `NO_DAY` for ids from the product's `visitorId`. */
  readonly day: number;
  readonly salt: string;
}

/** Means no day, because a primary key cannot be NULL. */
export const NO_DAY = 0;

/** Returns the hash of an address or id. */
export function toVisitorHash(salt: string, text: string): string {
  return createHmac('sha256', salt).update(text).digest('base64url').slice(0, 16);
}

/** @param id the result of the product's `visitorId` */
type ToVisitor = (address: string, id?: string) => string;

/**
 * Distinguishes visitors without storing who they are. It uses a salted hash of the address, which changes daily, or a
 * keyed hash of the product's id, which stays the same.
 */
export interface Visitors {
  readonly toVisitor: ToVisitor;
}

interface VisitorsOptions {
  /**
   * Returns the salts that all replicas use.
   *
   * @param offers become the salts of days without one
   */
  readonly readSalts: (offers: readonly Salt[]) => Promise<readonly Salt[]>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** How often the salts are read again (ms), so that a process soon notices that the database was replaced. */
export const REFRESH_INTERVAL = 1 * Hour;
/** How long before a day its salt is read (ms). Longer than the refresh interval. */
const AHEAD = 2 * Hour;

/** While the salts cannot be read, this process uses its own, so a visitor can count twice. */
export function createVisitors({ readSalts, now = Date.now }: VisitorsOptions) {
  const salts = new Map<number, string>();

  function find(day: number): string {
    const salt = salts.get(day) ?? randomBytes(32).toString('base64url');
    salts.set(day, salt);
    return salt;
  }

  return {
    /** Hashes an address, or the /64 network of an IPv6 address, or the product's id. */
    toVisitor: (address: string, id?: string): string =>
      id === undefined ? toVisitorHash(find(toDay(now())), toSender(address)) : toVisitorHash(find(NO_DAY), id),

    /** Reads the salts again. Rejects if the store does not answer. */
    async refresh(): Promise<void> {
      // In a new store, the offers become the salts.
      const days = new Set([NO_DAY, toDay(now()), toDay(now() + AHEAD)]);
      const read = await readSalts([...days].map((day) => ({ day, salt: find(day) })));
      for (const { day, salt } of read) salts.set(day, salt);
      for (const day of salts.keys()) if (day !== NO_DAY && day < toDay(now())) salts.delete(day);
    },
  };
}

/** Returns the day (days since 1970, UTC). @param at milliseconds since 1970 */
function toDay(at: number): number {
  return Math.floor(at / Day);
}
