import type { IncomingMessage } from 'node:http';
import { Minute, Second } from '../../../shared/units.ts';
import type { MayRead } from '../../engine/http/metrics-page.ts';
import { requestInfo } from '../../engine/http/request-info.ts';
import { createTokenBuckets, toSender } from '../tunnel/token-buckets.ts';
import { createOperatorTokens, type OperatorToken, type OperatorTokens } from './operator-tokens.ts';

/** Wrong tokens that one address may try at once, and in a minute after that (counts). */
const WRONG_AT_ONCE = 10;
const WRONG_PER_MINUTE = 10;

/** Whose token a request carries: nobody's, or not looked at, because too many wrong ones came before. */
export type Bearer = OperatorToken | undefined | { readonly waitMs: number };

/**
 * Reads `Authorization: Bearer`. It needs no store, so that it works while that is away; the attempts
 * are counted in this process alone.
 */
export function createBearerReader(tokens: OperatorTokens, now?: () => number): (req: IncomingMessage) => Bearer {
  const size = { burst: WRONG_AT_ONCE, perSecond: (WRONG_PER_MINUTE * Second) / Minute };
  const wrong = createTokenBuckets(size, now && { now });

  return function readBearer(req) {
    const candidate = /^Bearer +([\x21-\x7e]{1,400}) *$/i.exec(req.headers.authorization ?? '')?.[1];
    if (candidate === undefined) return undefined;
    const sender = toSender(requestInfo(req).address);
    const waitMs = wrong.peek(sender);
    if (waitMs > 0) return { waitMs };
    const token = tokens.find(candidate);
    if (!token) wrong.take(sender);
    return token;
  };
}

/** Operators and viewers may read the metrics. */
export function toMayRead(tokens: readonly OperatorToken[]): MayRead {
  const readBearer = createBearerReader(createOperatorTokens(tokens));
  return function mayRead(req) {
    const bearer = readBearer(req);
    return bearer && 'waitMs' in bearer ? bearer : bearer !== undefined;
  };
}
