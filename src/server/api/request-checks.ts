import { hash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Limit, OperationFacts } from '../../shared/api/operation.ts';
import { Day, Hour, Minute, Second } from '../../shared/units.ts';
import { WiringError } from '../errors/wiring-error.ts';
import { toSender } from '../request/client-address.ts';
import { HttpError } from '../request/http-error.ts';
import { requestInfo } from '../request/request-info.ts';
import type { ApiStore } from './api-store.ts';
import type { Caller } from './auth.ts';
import type { AnyReply } from './implement.ts';

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
function toKey({ operation: { method, path }, sender }: Counted, ...others: readonly string[]): string {
  return JSON.stringify([method, path, ...sender, ...others]);
}

export interface ParsedLimit {
  readonly max: number;
  /** In which so many requests are accepted (ms). */
  readonly window: number;
}

/** Reads `60/min`. @throws WiringError if it is not a limit */
export function parseLimit(limit: Limit, name: string): ParsedLimit {
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
  { max, window }: ParsedLimit,
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

/** The shortest `Idempotency-Key` of a request without a caller: strangers with one address must not share a key. */
export const MIN_OPEN_KEY = 16;
/** The longest of all (characters). */
export const MAX_KEY = 255;

/**
 * Runs a request with an `Idempotency-Key` once. The same request again gets the reply of the first.
 *
 * @throws HttpError 400, 409 or 422 if the key is not valid, is in use, or belongs to another request
 */
export async function runOnce(
  { store, counted, request }: { store: ApiStore; counted: Counted; request: IncomingMessage },
  run: () => Promise<AnyReply>,
): Promise<AnyReply> {
  const given = request.headers['idempotency-key'];
  if (given === undefined) return run();
  const text = requireKey(String(given), counted.sender[0] === 'caller' ? 1 : MIN_OPEN_KEY);
  const key = hash('sha256', toKey(counted, text), 'base64url');
  const claim = { id: randomUUID(), sender: JSON.stringify(counted.sender) };
  const { method, target } = requestInfo(request);
  const said = JSON.stringify([method, target, 'body' in request && request.body]);
  const fingerprint = hash('sha256', said, 'base64url');
  const kept = await store.claim(key, fingerprint, claim);
  if (kept) {
    if (kept.fingerprint !== fingerprint) {
      throw new HttpError(422, 'This Idempotency-Key was used for another request. Use a new one.');
    }
    if (kept.reply) return { ...kept.reply, headers: { ...kept.reply.headers, 'Idempotency-Replayed': 'true' } };
    throw new HttpError(409, 'The first request with this Idempotency-Key is still running.', { 'Retry-After': '1' });
  }
  let reply: AnyReply;
  try {
    reply = await run();
  } catch (error) {
    await store.release(key, claim);
    throw error;
  }
  // If this fails, the key stays claimed, so that a repeated request does not do the work twice.
  await store.keep(key, reply, claim);
  return reply;
}

function requireKey(text: string, min: number): string {
  if (text.length >= min && text.length <= MAX_KEY && /^[\x20-\x7e]+$/.test(text)) return text;
  const kind = min === 1 ? 'ASCII characters' : 'random ASCII characters, such as a UUID';
  throw new HttpError(400, `The Idempotency-Key is not valid. Use ${min} to ${MAX_KEY} ${kind}.`);
}
