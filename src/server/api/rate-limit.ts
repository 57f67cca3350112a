import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Limit, OperationFacts } from '../../shared/api/operation.ts';
import { Day, Hour, Minute, Second } from '../../shared/units.ts';
import { WiringError } from '../errors/wiring-error.ts';
import { BoundedMap } from '../request/bounded-map.ts';
import { toSender } from '../request/client-address.ts';
import { HttpError } from '../request/http-error.ts';
import { requestInfo } from '../request/request-info.ts';
import type { ApiStore } from './api-store.ts';
import type { Caller } from './auth.ts';

const WINDOWS = { s: Second, min: Minute, hour: Hour, day: Day };

/** Who sent a request: its caller, or else its address (the /64 network of IPv6). Wrong tokens count separately. */
type Sender = readonly [kind: 'caller', id: Caller['id']] | readonly [kind: 'address' | 'wrong-token', address: string];

export function findSender(request: IncomingMessage, caller: Caller | 'wrong-token' | undefined): Sender {
  if (typeof caller === 'object') return ['caller', caller.id];
  return [caller ?? 'address', toSender(requestInfo(request).address)];
}

/** An operation and who calls it. Limits and keys belong to both. */
export interface Counted {
  readonly operation: OperationFacts;
  readonly sender: Sender;
}

/** Makes one text of several parts. Callers choose some of them, so no other parts may give the same text. */
export function toSenderKey({ operation: { method, path }, sender }: Counted, ...others: readonly string[]): string {
  return JSON.stringify([method, path, ...sender, ...others]);
}

/** Reads `60/min` as a number of requests and a window (ms). @throws WiringError if it is not a limit */
export function parseLimit(limit: Limit, name: string) {
  const [, max, unit = ''] = /^([1-9]\d{0,8})\/(s|min|hour|day)$/.exec(limit) ?? [];
  if (max === undefined)
    throw new WiringError(
      `The limit "${limit}" of the operation "${name}" is not valid. Use one such as "60/min", with s, min, hour or day.`,
    );
  return { max: Number(max), window: WINDOWS[unit as keyof typeof WINDOWS] }; // the expression has no other units
}

/** The most senders whose limit is known to be used up. Of a sender that is dropped, the next wrong token gets 429. */
const MAX_USED_UP = 10_000;

export function createRateLimiter(store: ApiStore) {
  /** The end of the window (milliseconds since 1970). The store can only count, and a lookup must not wait for it. */
  const usedUp = new BoundedMap<number>(MAX_USED_UP);

  return {
    /**
     * Counts a request, and sets `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10).
     *
     * @throws HttpError 429 beyond the limit
     */
    async count(
      { max, window }: ReturnType<typeof parseLimit>,
      counted: Counted,
      response: ServerResponse,
    ): Promise<void> {
      const now = Date.now();
      const startsAt = now - (now % window);
      const endsAt = startsAt + window;
      const key = toSenderKey(counted);
      const count = await store.count(key, { startsAt, endsAt });
      const seconds = toSeconds(endsAt - now);
      response.setHeader('RateLimit-Policy', `"default";q=${max};w=${window / Second}`);
      response.setHeader('RateLimit', `"default";r=${Math.max(0, max - count)};t=${seconds}`);
      if (count >= max && counted.sender[0] === 'wrong-token') usedUp.set(key, endsAt);
      if (count > max) throw tooMany(seconds);
    },
    /** Counts nothing. @throws HttpError 429 if the sender of wrong tokens has used up its limit */
    requireLeft(counted: Counted): void {
      const wait = (usedUp.get(toSenderKey(counted)) ?? 0) - Date.now();
      if (wait > 0) throw tooMany(toSeconds(wait));
    },
  };
}

function tooMany(seconds: number): HttpError {
  return new HttpError(429, undefined, { 'Retry-After': String(seconds) });
}

function toSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / Second));
}
