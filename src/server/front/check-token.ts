import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import { Minute } from '../../shared/units.ts';
import { expandIPv6 } from '../request/client-address.ts';
import { readBearer } from '../request/request-headers.ts';
import { requestInfo } from '../request/request-info.ts';
import { sendText } from '../request/send-body.ts';
import type { OperatorToken, Tokens } from './tokens.ts';

export type Checked =
  | { readonly kind: 'known'; readonly token: OperatorToken }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'too-many'; readonly waitMs: number };

/** @param address of the sender, whose wrong tokens are counted */
export type CheckToken = (candidate: string, address: string) => Checked;

/**
 * Wrong tokens in a minute after which a sender has to wait (counts): from its address, its /64 network and its /48
 * network of IPv6.
 */
const MAX_ATTEMPTS = [5, 10, 20] as const;
/** Senders of wrong tokens that are counted in a minute (about 4 MB), and remembered senders of valid ones (counts). */
export const MAX_COUNTED_SENDERS = 30_000;
const MAX_KNOWN_SENDERS = 1000;

/**
 * Checks the tokens of the sign-in page and of `Authorization`. After too many wrong tokens, a sender waits until the next
 * minute. A token has at least 16 characters, so what many senders can try together does not matter. A sender of a valid
 * token only waits for its own wrong ones, not for those of its network.
 *
 * @param now milliseconds since 1970
 */
export function createCheckToken(tokens: Pick<Tokens, 'find'>, now: () => number = Date.now): CheckToken {
  const known = new Set<string>();
  const wrong = new Map<string, number>();
  let minute = 0;

  function isOver(networks: readonly string[]): boolean {
    return networks.some((network, index) => (wrong.get(network) ?? 0) >= (MAX_ATTEMPTS[index] ?? 0));
  }

  return function checkToken(candidate, address) {
    const current = Math.floor(now() / Minute);
    if (current !== minute) wrong.clear();
    minute = current;
    const networks = listNetworks(address);
    const [own = address] = networks;
    if (isOver(known.has(own) ? [own] : networks)) return { kind: 'too-many', waitMs: (minute + 1) * Minute - now() };
    const token = tokens.find(candidate);
    if (token) {
      known.delete(own);
      known.add(own);
      dropOldest(known, MAX_KNOWN_SENDERS);
      return { kind: 'known', token };
    }
    for (const network of networks) wrong.set(network, (wrong.get(network) ?? 0) + 1);
    dropOldest(wrong, MAX_COUNTED_SENDERS);
    return { kind: 'wrong' };
  };
}

/** Maps and sets keep the order of insertion. */
function dropOldest(kept: Map<string, unknown> | Set<string>, max: number): void {
  for (const key of kept.keys()) {
    if (kept.size <= max) return;
    kept.delete(key);
  }
}

/**
 * Lists the networks whose attempts count together, the narrowest first. For IPv4, that is only the address. For IPv6,
 * it is the address, its /64 (one machine or household, with 2^64 addresses) and its /48 (one customer, with 65,536 of
 * those).
 */
function listNetworks(address: string): readonly string[] {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  if (!isIPv6(mapped)) return [mapped];
  const groups = expandIPv6(mapped);
  return [groups.join(':'), `${groups.slice(0, 4).join(':')}/64`, `${groups.slice(0, 3).join(':')}/48`];
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

type Answer = (req: IncomingMessage, res: ServerResponse) => void | Promise<void>;

/** Answers only callers with a valid token. */
export function forReaders(mayRead: MayRead, answer: Answer): (req: IncomingMessage, res: ServerResponse) => void {
  async function check(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const may = await mayRead(req);
    if (res.closed) return;
    if (may === true) await answer(req, res);
    else refuseReader(res, may);
  }
  return function answerReader(req, res) {
    check(req, res).catch(() => sendText(res, 500, 'The server could not answer this request.'));
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
