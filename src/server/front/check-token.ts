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
const WRONG_TOKENS: BucketSize = { burst: 5, perSecond: (5 * Second) / Minute };

/**
 * Checks the tokens of the sign-in page and of `Authorization`. A token has at least 16 characters, so what many senders
 * can try together does not matter.
 */
export function createCheckToken(tokens: Pick<Tokens, 'find'>): CheckToken {
  const attempts = createTokenBuckets(WRONG_TOKENS);
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

export type FixedAnswer = (req: IncomingMessage, res: ServerResponse) => void | Promise<void>;

/**
 * Answers only callers with the token of an operator or viewer.
 *
 * @param checkToken undefined to answer everybody
 */
export function forReaders(checkToken: CheckToken | undefined, answer: FixedAnswer): FixedAnswer {
  if (!checkToken) return answer;
  return function answerReader(req, res) {
    const token = readBearer(req);
    const checked = token === undefined ? undefined : checkToken(token, requestInfo(req).address);
    if (checked?.kind === 'known') return answer(req, res);
    if (checked?.kind === 'too-many') {
      res.setHeader('Retry-After', Math.ceil(checked.waitMs / Second));
      return sendText(res, 429, 'Too many wrong tokens came from this address. Try again later.');
    }
    res.setHeader('WWW-Authenticate', 'Bearer');
    sendText(
      res,
      401,
      'This page is for operators. Send a token from VIEWER_TOKEN or OPERATOR_TOKEN as a bearer token.',
    );
  };
}
