import { createHmac, randomBytes } from 'node:crypto';
import { Day, Hour } from '../../../shared/units.ts';
import { toSender } from '../../engine/request/to-sender.ts';

/** The secret for hashes of visitors. */
export interface Salt {
  /** The day on which it hashes addresses (days since 1970, UTC), or 0 for the ids that `visitorId` returns. */
  readonly day: number;
  readonly salt: string;
}

/** Means no day, because a primary key cannot be NULL. */
export const NO_DAY = 0;

export function createSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** @param id the result of the product's `visitorId` */
export type ToVisitor = (address: string, id?: string) => string;

/**
 * Distinguishes visitors without storing who they are. It uses a salted hash of the address, which changes
 * daily, or a keyed hash of the product's id, which stays the same.
 */
export interface Visitors {
  readonly toVisitor: ToVisitor;
  /** Lists the visitor's other hashes since yesterday, as far as this process knows them. */
  listOthers(address: string, id?: string): string[];
}

export interface VisitorsOptions {
  /**
   * Reads all salts from the store, the common ones first.
   *
   * @param offers become the common salts of days without one
   */
  readonly readSalts: (offers: readonly Salt[]) => Promise<readonly Salt[]>;
  /** Records a salt that the store does not know. Returns false if that failed. */
  readonly keepSalt: (salt: Salt) => boolean;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** The salts of a day. The first one is in use. */
interface KnownSalts {
  readonly salts: readonly string[];
  /** Whether the store or the journal has the first one. False until it is used. */
  isKept: boolean;
}

/** How often the salts are read again (ms), so that a process soon notices that the database was replaced. */
export const REFRESH_INTERVAL = 1 * Hour;
/** How long before a day its salt is read (ms). Longer than the refresh interval. */
const AHEAD = 2 * Hour;

/**
 * Hashes with the salts that all replicas share through the store. While the store does not answer, this
 * process creates salts and writes each to its journal before it uses it. So the store gets them together
 * with the failures, and `forget` finds those too.
 */
export function createVisitors({ readSalts, keepSalt, now = Date.now }: VisitorsOptions) {
  const known = new Map<number, KnownSalts>();

  function find(day: number): { readonly salt: Salt; readonly of: KnownSalts } {
    const of = known.get(day) ?? { salts: [createSecret()], isKept: false };
    known.set(day, of);
    return { salt: { day, salt: of.salts[0] ?? '' }, of };
  }

  function use(day: number): string {
    const { salt, of } = find(day);
    of.isKept ||= keepSalt(salt);
    return salt.salt;
  }

  function toVisitor(address: string, id?: string): string {
    return id === undefined ? hashAddress(use(toDay(now())), address) : hashId(use(NO_DAY), id);
  }

  /** Reads the salts again. Rejects if the store does not answer. */
  async function refresh(): Promise<void> {
    // Until the answer arrives, offers are used for hashes. In a new store, they become the common salts.
    const days = new Set([NO_DAY, toDay(now()), toDay(now() + AHEAD)]);
    const read = await readSalts([...days].map((day) => find(day).salt));
    for (const [day, salts] of Map.groupBy(read, ({ day }) => day)) learn(day, salts);
    for (const day of known.keys()) if (day !== NO_DAY && day < toDay(now()) - 1) known.delete(day);
  }

  function learn(day: number, read: readonly Salt[]): void {
    const salts = read.map(({ salt }) => salt);
    const before = known.get(day);
    const lost = before?.isKept ? before.salts.filter((salt) => !salts.includes(salt)) : [];
    for (const salt of lost) keepSalt({ day, salt });
    known.set(day, { salts: [...salts, ...lost], isKept: true });
  }

  return {
    toVisitor,
    listOthers(address: string, id?: string): string[] {
      const today = toDay(now());
      const listSalts = (day: number) => known.get(day)?.salts ?? [];
      const hashes =
        id === undefined
          ? [today, today - 1].flatMap(listSalts).map((salt) => hashAddress(salt, address))
          : listSalts(NO_DAY).map((salt) => hashId(salt, id));
      const own = toVisitor(address, id);
      return hashes.filter((hash) => hash !== own);
    },
    refresh,
  };
}

/** Returns the day (days since 1970, UTC). @param at milliseconds since 1970 */
function toDay(at: number): number {
  return Math.floor(at / Day);
}

/** Hashes an address, or the /64 network of an IPv6 address. @param salt the salt of a day */
export function hashAddress(salt: string, address: string): string {
  return toVisitorHash(salt, toSender(address));
}

/** @param salt the salt of `NO_DAY` */
export function hashId(salt: string, id: string): string {
  return toVisitorHash(salt, id);
}

export function toVisitorHash(salt: string, text: string): string {
  return createHmac('sha256', salt).update(text).digest('base64url').slice(0, 16);
}
