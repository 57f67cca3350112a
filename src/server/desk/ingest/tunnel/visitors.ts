import { createHmac } from 'node:crypto';
import { Day, Hour, Second } from '../../../../shared/units.ts';
import { toSender } from '../../../engine/request/to-sender.ts';
import type { Desk } from '../../desk.ts';
import { createSecret, NO_DAY } from '../../store/visitors/secret-table.ts';
import type { Salt } from '../journal-entry.ts';

/** @param id what the product's `visitorId` says about who it is */
export type ToVisitor = (address: string, id?: string) => string;

/**
 * Distinguishes visitors without storing who they are: by a salted hash of their address, which changes
 * daily, or by a keyed hash of the product's id, which stays the same.
 */
export interface Visitors {
  readonly toVisitor: ToVisitor;
  /** The other hashes that the same visitor had since yesterday, as far as this process knows. */
  listOthers(address: string, id?: string): string[];
}

export interface VisitorsOptions {
  /**
   * Asks the store for all salts that it has, the common ones first.
   *
   * @param offers become the common salts of days that have none
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
  /** The store or the journal has the first one. False until it is used. */
  isKept: boolean;
}

/**
 * How often the store is asked (ms), so that a process does not use salts for long that the store does not
 * have, such as after the database was replaced; and how often while it does not answer.
 */
const REFRESH_INTERVAL = 1 * Hour;
const RETRY_INTERVAL = 5 * Second;
/** The salt of a day is asked for this long before the day (ms): longer than until the next refresh. */
const AHEAD = 2 * Hour;

/**
 * Hashes with the salts that the store gives to all replicas. While the store does not answer, this
 * process makes salts itself and writes each to its journal before it uses it. So the store gets them
 * together with the failures, and `forget` finds those too.
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

  /** Rejects where the store does not answer. */
  async function refresh(): Promise<void> {
    // What is hashed until the answer comes is hashed with an offer: on a new store, that is the common salt.
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

/** Uses the salts of the desk's store, and asks for them as long as the process runs. */
export function openVisitors(desk: Pick<Desk, 'ask' | 'journalSalt'>): Visitors {
  const visitors = createVisitors({
    readSalts: (offers) => desk.ask('readSalts', offers),
    keepSalt: (salt) => desk.journalSalt(salt),
  });
  let askedAt = 0;
  function refreshIfDue(): void {
    // By the wall clock, because a machine may sleep. It may also be set back.
    if (Math.abs(Date.now() - askedAt) < REFRESH_INTERVAL) return;
    askedAt = Date.now();
    visitors.refresh().catch(() => {
      askedAt = 0;
    });
  }
  refreshIfDue();
  setInterval(refreshIfDue, RETRY_INTERVAL).unref();
  return visitors;
}

/** Days since 1970, UTC. @param at milliseconds since 1970 */
function toDay(at: number): number {
  return Math.floor(at / Day);
}

/** Of an IPv6 address, its /64 network. @param salt of one day */
export function hashAddress(salt: string, address: string): string {
  return toVisitorHash(salt, toSender(address));
}

/** @param salt of no day */
export function hashId(salt: string, id: string): string {
  return toVisitorHash(salt, id);
}

export function toVisitorHash(salt: string, text: string): string {
  return createHmac('sha256', salt).update(text).digest('base64url').slice(0, 16);
}
