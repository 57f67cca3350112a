import { hash, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { HttpError } from '../request/http-error.ts';
import { requestInfo } from '../request/request-info.ts';
import type { ApiStore } from './api-store.ts';
import type { AnyReply } from './implement.ts';
import { type Counted, toSenderKey } from './rate-limit.ts';

/** The shortest `Idempotency-Key` of a request without a caller: strangers with one address must not share a key. */
export const MIN_OPEN_KEY = 16;
/** The longest of all (characters). */
export const MAX_KEY = 255;

/** Kept in place of a reply that could not be sent. No reply has this status. */
const NO_REPLY = { status: 0 };

/**
 * Runs a request with an `Idempotency-Key` once. The same request again gets the reply of the first. It runs again only if
 * `run` threw, not if the reply could not be sent or kept: the work is done.
 *
 * @param check throws for a reply that is not to be sent
 * @throws HttpError 400, 409 or 422 if the key is not valid, is in use, or belongs to another request
 */
export async function runOnce(
  { store, counted, request }: { store: ApiStore; counted: Counted; request: IncomingMessage },
  run: () => AnyReply | Promise<AnyReply>,
  check: (reply: AnyReply) => AnyReply | Promise<AnyReply>,
): Promise<AnyReply> {
  const given = request.headers['idempotency-key'];
  if (given === undefined) return check(await run());
  const text = requireKey(String(given), counted.sender[0] === 'caller' ? 1 : MIN_OPEN_KEY);
  const key = hash('sha256', toSenderKey(counted, text), 'base64url');
  const claim = { id: randomUUID(), sender: JSON.stringify(counted.sender) };
  const { method, target } = requestInfo(request);
  const said = JSON.stringify([method, target, 'body' in request && toComparable(request.body)]);
  const fingerprint = hash('sha256', said, 'base64url');
  const kept = await store.claim(key, fingerprint, claim);
  if (kept) {
    if (kept.fingerprint !== fingerprint) {
      throw new HttpError(422, 'This Idempotency-Key was used for another request. Use a new one.');
    }
    if (kept.reply?.status === NO_REPLY.status) {
      throw new HttpError(
        409,
        'The request with this Idempotency-Key ran, but its response failed. Its result is unknown.',
      );
    }
    if (kept.reply) return { ...kept.reply, headers: { ...kept.reply.headers, 'Idempotency-Replayed': 'true' } };
    throw new HttpError(409, 'The first request with this Idempotency-Key is still running.', { 'Retry-After': '1' });
  }
  let made: AnyReply;
  try {
    made = await run();
  } catch (error) {
    // If this fails, the claim expires by itself, and the failure of the request matters more.
    await store.release(key, claim).catch(() => undefined);
    throw error;
  }
  try {
    const reply = await check(made);
    await store.keep(key, reply, claim);
    return reply;
  } catch (error) {
    // If this fails too, the key stays claimed for a time.
    await store.keep(key, NO_REPLY, claim).catch(() => undefined);
    throw error;
  }
}

/** Of a file, name and size are compared. */
function toComparable(body: unknown): unknown {
  if (!(body instanceof FormData)) return body;
  return [...body].map(([name, value]) => [name, typeof value === 'string' ? value : [value.name, value.size]]);
}

function requireKey(text: string, min: number): string {
  if (text.length >= min && text.length <= MAX_KEY && /^[\x20-\x7e]+$/.test(text)) return text;
  const kind = min === 1 ? 'ASCII characters' : 'random ASCII characters, such as a UUID';
  throw new HttpError(400, `The Idempotency-Key is not valid. Use ${min} to ${MAX_KEY} ${kind}.`);
}
