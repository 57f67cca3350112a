import { hash, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { HttpError } from '../request/http-error.ts';
import { requestInfo } from '../request/request-info.ts';
import type { ApiStore } from './api-store.ts';
import type { AnyReply } from './implement.ts';
import { type Counted, toKey } from './rate-limit.ts';

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
  const said = JSON.stringify([method, target, 'body' in request && toComparable(request.body)]);
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
    // If this fails, the claim expires by itself, and the failure of the request matters more.
    await store.release(key, claim).catch(() => undefined);
    throw error;
  }
  // If this fails, the key stays claimed, so that a repeated request does not do the work twice.
  await store.keep(key, reply, claim);
  return reply;
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
