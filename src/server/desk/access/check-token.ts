import { setTimeout as sleep } from 'node:timers/promises';
import { ATTEMPT_HOLD, MAX_HELD_ATTEMPTS } from '../limits.ts';
import { listNetworks } from './list-networks.ts';
import type { OperatorToken, OperatorTokens } from './operator-tokens.ts';
import type { SessionStore } from './session-store.ts';
import { createWrongTokens } from './wrong-tokens.ts';

/** The result of a check. */
export type Checked =
  | { readonly kind: 'known'; readonly token: OperatorToken }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'too-many'; readonly waitMs: number };

/** @param address of the sender, whose wrong tokens are counted */
export type CheckToken = (candidate: string, address: string) => Promise<Checked>;

export interface CheckTokenOptions {
  readonly tokens: OperatorTokens;
  readonly sessions: Pick<SessionStore, 'countAttempts'>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** How long an answer is held back during a flood (ms). */
  readonly holdMs?: number;
}

/** Senders of right tokens that are remembered (a count). */
const MAX_KNOWN_SENDERS = 1000;

/**
 * Checks the tokens of the sign-in page and of `Authorization`. A sender of too many wrong tokens waits
 * until the next minute. During a flood from many senders, answers are held back, but a sender is never
 * refused for what others did: an attacker with many addresses could lock all operators out. Senders
 * that had a right token before are not slowed down.
 */
export function createCheckToken(options: CheckTokenOptions): CheckToken {
  const { tokens, sessions, now = Date.now, holdMs = ATTEMPT_HOLD } = options;
  const wrong = createWrongTokens({ sessions, now, secret: tokens.all.map(({ token }) => token).join(' ') });
  const known = new Set<string>();
  let held = 0;

  function remember(address: string): void {
    known.delete(address);
    known.add(address);
    // A set keeps the order of insertion: the first one was silent longest.
    const [oldest] = known;
    if (known.size > MAX_KNOWN_SENDERS && oldest !== undefined) known.delete(oldest);
  }

  /** Memory bounds how many wait. The others are answered immediately, because a refusal would lock people out. */
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
    // Checked and counted without a wait in between, so that parallel attempts have the same limit as others.
    const token = tokens.find(candidate);
    if (token) remember(own);
    else wrong.add(networks);
    if (wrong.isFlood && !isKnown) await hold();
    return token ? { kind: 'known', token } : { kind: 'wrong' };
  };
}
