import { Minute } from '../../../shared/units.ts';
import { MAX_ATTEMPTS, MAX_ATTEMPTS_OF_ALL } from '../limits.ts';
import type { OperatorTokens } from './operator-tokens.ts';
import type { SessionStore } from './session-store.ts';
import type { Operator } from './sign-in.ts';

/** What a token that came with a request says. */
export type Checked =
  | { readonly kind: 'known'; readonly operator: Operator }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'too-many'; readonly waitMs: number };

/** @param sender whose wrong tokens are counted together: a hash, no address */
export type CheckBearer = (candidate: string, sender: string) => Promise<Checked>;

export interface BearerCheckOptions {
  readonly tokens: OperatorTokens;
  readonly sessions: Pick<SessionStore, 'countAttempt' | 'forgiveAttempt'>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Senders of right tokens that are remembered (a count). */
const MAX_KNOWN_SENDERS = 1000;

/**
 * Checks tokens that come with each request, held to the limits of the sign-in page. A right one costs
 * the store nothing. A wrong one is counted there, together with what the sign-in page and other
 * replicas count, and before that in this process, in the same turn in which it was looked at: of many
 * at once no more are looked at than of many in a row.
 */
export function createBearerCheck({ tokens, sessions, now = Date.now }: BearerCheckOptions): CheckBearer {
  const wrong = new WrongTokens();
  /** Whoever guesses from many addresses must not shut out those that had a right one before: they have their own limit. */
  const known = new Set<string>();

  function isOver(sender: string): boolean {
    if (wrong.of(sender) >= MAX_ATTEMPTS) return true;
    return wrong.inTotal >= MAX_ATTEMPTS_OF_ALL && !known.has(sender);
  }

  function remember(sender: string): void {
    known.delete(sender);
    known.add(sender);
    // A set keeps the order: the first one was seen last the longest ago.
    const [oldest] = known;
    if (known.size > MAX_KNOWN_SENDERS && oldest !== undefined) known.delete(oldest);
  }

  async function count(sender: string): Promise<void> {
    wrong.add(sender);
    const { ofSender, inTotal } = await sessions.countAttempt(sender);
    if (inTotal > MAX_ATTEMPTS_OF_ALL) wrong.inTotal = MAX_ATTEMPTS_OF_ALL;
    if (ofSender <= MAX_ATTEMPTS) return;
    wrong.close(sender);
    // One sender's own limit must not use up what there is for all.
    await sessions.forgiveAttempt(sender);
  }

  return async function checkBearer(candidate, sender) {
    const nextMinute = wrong.turnTo(now());
    if (isOver(sender)) return { kind: 'too-many', waitMs: nextMinute - now() };
    const token = tokens.find(candidate);
    if (!token) {
      await count(sender);
      return { kind: 'wrong' };
    }
    remember(sender);
    return { kind: 'known', operator: { name: token.name, role: token.role } };
  };
}

/** Those of the minute that runs, as far as this process knows. */
class WrongTokens {
  inTotal = 0;
  #minute = 0;
  readonly #bySender = new Map<string, number>();

  /** @returns when the next minute begins (ms since 1970) */
  turnTo(now: number): number {
    const minute = Math.floor(now / Minute);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.inTotal = 0;
      this.#bySender.clear();
    }
    return (minute + 1) * Minute;
  }

  of(sender: string): number {
    return this.#bySender.get(sender) ?? 0;
  }

  add(sender: string): void {
    this.inTotal += 1;
    this.#bySender.set(sender, this.of(sender) + 1);
  }

  close(sender: string): void {
    this.#bySender.set(sender, MAX_ATTEMPTS);
  }
}
