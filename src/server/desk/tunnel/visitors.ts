import { createHmac, randomBytes } from 'node:crypto';
import { Day } from '../../../shared/units.ts';
import { toSender } from './token-buckets.ts';

export interface VisitorsOptions {
  /** Random, and the same for all replicas; undefined until it is known. Without it each process tells visitors apart for itself. */
  readonly salt?: () => string | undefined;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Tells visitors apart within a day, without keeping their addresses: a salted hash that changes daily. */
export function createVisitors({
  salt = () => undefined,
  now = Date.now,
}: VisitorsOptions = {}): (address: string) => string {
  const own = randomBytes(32);
  return (address) => {
    const today = Math.floor(now() / Day);
    return createHmac('sha256', salt() ?? own)
      .update(`${today} ${toSender(address)}`)
      .digest('base64url')
      .slice(0, 16);
  };
}

/** With the salt of the desk's store, as soon as it is read. */
export function openVisitors(readSalt: () => Promise<string>): (address: string) => string {
  let salt: string | undefined;
  readSalt().then(
    (known) => {
      salt = known;
    },
    () => undefined, // the store is away: until the next start this process tells visitors apart for itself
  );
  return createVisitors({ salt: () => salt });
}
