import type { IncomingMessage, ServerResponse } from 'node:http';
import { Minute, Second } from '../../shared/units.ts';
import { toSender } from '../request/client-address.ts';
import { readBearer } from '../request/request-headers.ts';
import { requestInfo } from '../request/request-info.ts';
import { sendText } from '../request/send-body.ts';
import { type BucketSize, createTokenBuckets } from '../request/token-buckets.ts';
import type { OperatorToken, Tokens } from './tokens.ts';

export type Checked =
  | { readonly kind: 'known'; readonly token: OperatorToken }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'too-many'; readonly waitMs: number };

/** @param address of the sender, whose wrong tokens are counted */
export type CheckToken = (candidate: string, address: string) => Checked;

/** Wrong tokens of a sender at once, and how many it has again in a second. */
const ATTEMPTS: BucketSize = { burst: 5, perSecond: (5 * Second) / Minute };

/**
 * Checks the tokens of the sign-in page and of `Authorization`. A token has at least 16 characters, so what many senders
 * can try together does not matter.
 *
 * @param now milliseconds, monotonic
 */
export function createCheckToken(tokens: Pick<Tokens, 'find'>, now?: () => number): CheckToken {
  const attempts = createTokenBuckets(ATTEMPTS, { now });
  return function checkToken(candidate, address) {
    const sender = toSender(address);
    const waitMs = attempts.peek(sender);
    if (waitMs > 0) return { kind: 'too-many', waitMs };
    const token = tokens.find(candidate);
    if (token) return { kind: 'known', token };
    attempts.take(sender);
    return { kind: 'wrong' };
  };
}

/** Checks if a caller can read pages for operators: yes, no, or not until `waitMs` have passed. */
export type MayRead = (req: IncomingMessage) => Promise<boolean | { readonly waitMs: number }>;

/** Accepts the token of an operator or viewer. */
export function toMayRead(checkToken: CheckToken): MayRead {
  return async function mayRead(req) {
    const token = readBearer(req);
    if (token === undefined) return false;
    const checked = checkToken(token, requestInfo(req).address);
    return checked.kind === 'too-many' ? { waitMs: checked.waitMs } : checked.kind === 'known';
  };
}

export type Answer = (req: IncomingMessage, res: ServerResponse) => void | Promise<void>;

/** Answers only callers with a valid token. */
export function forReaders(mayRead: MayRead, answer: Answer): Answer {
  return async function answerReader(req, res) {
    const may = await mayRead(req);
    if (res.closed) return;
    if (may === true) await answer(req, res);
    else refuseReader(res, may);
  };
}

function refuseReader(res: ServerResponse, may: false | { readonly waitMs: number }): void {
  if (may) {
    res.setHeader('Retry-After', Math.ceil(may.waitMs / 1000));
    sendText(res, 429, 'Too many wrong tokens came from this address. Try again later.');
    return;
  }
  res.setHeader('WWW-Authenticate', 'Bearer');
  sendText(res, 401, 'This page is for operators. Send a token from VIEWER_TOKEN or OPERATOR_TOKEN as a bearer token.');
}
