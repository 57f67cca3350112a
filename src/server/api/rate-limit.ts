import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Limit, OperationFacts } from '../../shared/api/operation.ts';
import { Day, Hour, Minute, Second } from '../../shared/units.ts';
import { WiringError } from '../errors/wiring-error.ts';
import { toSender } from '../request/client-address.ts';
import { HttpError } from '../request/http-error.ts';
import { requestInfo } from '../request/request-info.ts';
import type { ApiStore } from './api-store.ts';
import type { Caller } from './auth.ts';

const WINDOWS = { s: Second, min: Minute, hour: Hour, day: Day };

/** Who sent a request: its caller, or else its address (the /64 network of IPv6). */
export type Sender = readonly [kind: 'caller', id: Caller['id']] | readonly [kind: 'address', address: string];

export function findSender(request: IncomingMessage, caller: Caller | undefined): Sender {
  return caller ? ['caller', caller.id] : ['address', toSender(requestInfo(request).address)];
}

/** An operation and who calls it. Limits and keys belong to both. */
export interface Counted {
  readonly operation: OperationFacts;
  readonly sender: Sender;
}

/** Makes one text of several parts. Callers choose some of them, so no other parts may give the same text. */
export function toKey({ operation: { method, path }, sender }: Counted, ...others: readonly string[]): string {
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

/**
 * Counts a request, and sets `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10).
 *
 * @throws HttpError 429 beyond the limit
 */
export async function requireLimit(
  store: ApiStore,
  { max, window }: ReturnType<typeof parseLimit>,
  counted: Counted,
  response: ServerResponse,
): Promise<void> {
  const now = Date.now();
  const startsAt = now - (now % window);
  const count = await store.count(toKey(counted), { startsAt, endsAt: startsAt + window });
  const seconds = Math.max(1, Math.ceil((startsAt + window - now) / Second));
  response.setHeader('RateLimit-Policy', `"default";q=${max};w=${window / Second}`);
  response.setHeader('RateLimit', `"default";r=${Math.max(0, max - count)};t=${seconds}`);
  if (count > max) throw new HttpError(429, undefined, { 'Retry-After': String(seconds) });
}
