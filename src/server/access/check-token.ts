import { setTimeout as sleep } from 'node:timers/promises';
import { ATTEMPT_HOLD, MAX_HELD_ATTEMPTS } from './limits.ts';
import { listNetworks } from './list-networks.ts';
import type { OperatorToken, OperatorTokens } from './operator-tokens.ts';
import { createWrongTokens, type SharedAttempts } from './wrong-tokens.ts';

export type Checked =
  | { readonly kind: 'known'; readonly token: OperatorToken }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'too-many'; readonly waitMs: number };

/** @param address of the sender, whose wrong tokens are counted */
export type CheckToken = (candidate: string, address: string) => Promise<Checked>;

interface CheckTokenOptions {
  readonly tokens: OperatorTokens;
  /** Counts for all replicas; undefined if each process counts separately. */
  readonly replicas: SharedAttempts | undefined;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** How long an answer is delayed during a flood (ms). */
  readonly holdMs?: number;
}

/** Remembered senders of valid tokens (a count). */
const MAX_KNOWN_SENDERS = 1000;

/**
 * Checks the tokens of the sign-in page and of `Authorization`. After too many wrong tokens, a sender waits until the
 * next minute. During a flood from many senders, answers are delayed, but no sender is refused because of others: an
 * attacker with many addresses could otherwise lock all operators out. Senders that have sent a valid token before are
 * not delayed.
 */
export function createCheckToken(options: CheckTokenOptions): CheckToken {
  const { tokens, replicas, now = Date.now, holdMs = ATTEMPT_HOLD } = options;
  const wrong = createWrongTokens({ replicas, now, secret: tokens.all.map(({ token }) => token).join(' ') });
  const known = new Set<string>();
  let held = 0;

  function remember(address: string): void {
    known.delete(address);
    known.add(address);
    // A set keeps the order of insertion, so the first one was not seen for longest.
    const [oldest] = known;
    if (known.size > MAX_KNOWN_SENDERS && oldest !== undefined) known.delete(oldest);
  }

  /**
   * Limits the delayed requests, to bound memory. Others are answered immediately, because a refusal would lock people
   * out.
   */
  async function hold(): Promise<void> {
    if (held >= MAX_HELD_ATTEMPTS) return;
    held += 1;
    await sleep(holdMs);
    held -= 1;
  }

  return async function checkToken(candidate, address) {
    const networks = listNetworks(address);
    const [own = address] = networks;
    const isKnown = known.has(own);
    const waitMs = wrong.waitOf(isKnown ? [own] : networks);
    if (waitMs > 0) return { kind: 'too-many', waitMs };
    // Checked and counted synchronously, so that parallel attempts have the same limit as others.
    const token = tokens.find(candidate);
    if (token) remember(own);
    else wrong.add(networks);
    if (wrong.isFlood && !isKnown) await hold();
    return token ? { kind: 'known', token } : { kind: 'wrong' };
  };
}
