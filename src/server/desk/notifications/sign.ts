import { createHmac } from 'node:crypto';

/** What a receiver checks, see `docs/desk.md`. */
export const TIMESTAMP_HEADER = 'X-Spillway-Timestamp';
export const SIGNATURE_HEADER = 'X-Spillway-Signature';
/** The same with each try of one message. */
export const ID_HEADER = 'X-Spillway-Id';

/**
 * Signs what is sent: HMAC-SHA256 over `<timestamp>.<body>`, so that an old message cannot be sent
 * again as a new one.
 *
 * @param at milliseconds since 1970; the header has seconds
 */
export function sign(secret: string, body: string, at: number): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at / 1000));
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  return { [TIMESTAMP_HEADER]: timestamp, [SIGNATURE_HEADER]: `sha256=${signature}` };
}
