import { createHmac, randomBytes } from 'node:crypto';
import { Day } from '../../../shared/units.ts';
import { toSender } from '../../engine/http/to-sender.ts';

export interface VisitorsOptions {
  /** Random, and the same for all replicas; undefined until it is known. Without it each process tells visitors apart for itself. */
  readonly salt?: () => string | undefined;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** @param id what the owner's `visitorId` says of who it is */
export type ToVisitor = (address: string, id?: string) => string;

/**
 * Tells visitors apart without keeping who they are. By their address within a day: a salted hash that
 * changes daily. By the owner's id wherever they come from, each time alike.
 */
export function createVisitors({ salt = () => undefined, now = Date.now }: VisitorsOptions = {}): ToVisitor {
  const own = randomBytes(32);
  return (address, id) => {
    if (id !== undefined) return hashVisitorId(salt() ?? own, id);
    const today = Math.floor(now() / Day);
    return toHash(salt() ?? own, `${today} ${toSender(address)}`);
  };
}

/** What is kept of an id: the same each time, so that all of somebody can be found and forgotten. */
export function hashVisitorId(salt: string | Buffer, id: string): string {
  return toHash(salt, `id ${id}`);
}

function toHash(salt: string | Buffer, text: string): string {
  return createHmac('sha256', salt).update(text).digest('base64url').slice(0, 16);
}

/** With the salt of the desk's store, as soon as it is read. */
export function openVisitors(readSalt: () => Promise<string>): ToVisitor {
  let salt: string | undefined;
  readSalt().then(
    (known) => {
      salt = known;
    },
    () => undefined, // the store is away: until the next start this process tells visitors apart for itself
  );
  return createVisitors({ salt: () => salt });
}
