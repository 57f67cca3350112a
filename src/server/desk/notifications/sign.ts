import { createHmac } from 'node:crypto';

/** The headers that a receiver checks, see `docs/desk.md`. */
export const TIMESTAMP_HEADER = 'X-Spillway-Timestamp';
export const SIGNATURE_HEADER = 'X-Spillway-Signature';
/** The same in each try of a message. */
export const ID_HEADER = 'X-Spillway-Id';

/**
 * Signs a message: HMAC-SHA256 over `<timestamp>.<body>`, so that an old message cannot be replayed as a new one.
 *
 * @param at milliseconds since 1970; the header has seconds
 */
export function sign(secret: string, body: string, at: number): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at / 1000));
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  return { [TIMESTAMP_HEADER]: timestamp, [SIGNATURE_HEADER]: `sha256=${signature}` };
}
