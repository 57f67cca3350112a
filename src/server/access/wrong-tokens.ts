import { createHmac, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { Minute } from '../../shared/units.ts';
import {
  ATTEMPTS_SHARE_INTERVAL,
  MAX_ATTEMPTS,
  MAX_ATTEMPTS_OF_ALL,
  MAX_COUNTED_SENDERS,
  MAX_SHARED_SENDERS,
} from './limits.ts';

/** The wrong tokens of the current minute. */
interface WrongTokens {
  /**
   * Returns how long a sender has to wait (ms), or 0.
   *
   * @param networks from `listNetworks()`, or the first of them
   */
  waitOf(networks: readonly string[]): number;
  add(networks: readonly string[]): void;
  /** Whether all senders together sent so many that answers have to be delayed. */
  readonly isFlood: boolean;
}

/** The counts of all replicas. */
export interface SharedAttempts {
  /**
   * Adds wrong tokens of this minute. Rejects if the store is unavailable.
   *
   * @param bySender hashes of senders, each with a count
   * @param inTotal the count for all senders
   * @returns the counts of all replicas
   */
  countAttempts(
    bySender: readonly (readonly [sender: string, count: number])[],
    inTotal: number,
  ): Promise<{ readonly bySender: readonly (readonly [sender: string, count: number])[]; readonly inTotal: number }>;
}

interface WrongTokensOptions {
  /** Counts for all replicas; undefined if each process counts separately. */
  readonly replicas: SharedAttempts | undefined;
  /** The same secret on all replicas. Senders are hashed with a key derived from it. */
  readonly secret: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Counts in this process first, and adds the counts to the store at most once a second. Replicas thus count together,
 * and a flood costs the store one query a second and a bounded number of rows.
 */
export function createWrongTokens({ replicas, secret, now }: WrongTokensOptions): WrongTokens {
  const toHash = createSenderHash(secret);
  const counts = new Map<string, number>();
  let inTotal = 0;
  let minute = 0;
  /** Senders that the store also counts. */
  const shared = new Set<string>();
  let unsent = { bySender: new Map<string, number>(), inTotal: 0 };
  let isSharing = false;
  let sharedAt = Number.NEGATIVE_INFINITY;

  function enterMinute(): void {
    const current = Math.floor(now() / Minute);
    if (current === minute) return;
    minute = current;
    inTotal = 0;
    counts.clear();
    shared.clear();
    unsent = { bySender: new Map(), inTotal: 0 };
  }

  function raise(sender: string, count: number): void {
    counts.set(sender, count);
    const [oldest] = counts.keys();
    if (counts.size > MAX_COUNTED_SENDERS && oldest !== undefined) counts.delete(oldest);
  }

  function prepare(sender: string): void {
    if (shared.size < MAX_SHARED_SENDERS) shared.add(sender);
    if (shared.has(sender)) unsent.bySender.set(sender, (unsent.bySender.get(sender) ?? 0) + 1);
  }

  function shareSoon(): void {
    if (!replicas) return;
    if (isSharing || unsent.bySender.size === 0) return;
    isSharing = true;
    setTimeout(() => void share(replicas), Math.max(0, sharedAt + ATTEMPTS_SHARE_INTERVAL - performance.now())).unref();
  }

  async function share({ countAttempts }: SharedAttempts): Promise<void> {
    sharedAt = performance.now();
    const [sent, sentIn] = [unsent, minute];
    unsent = { bySender: new Map(), inTotal: 0 };
    try {
      const byHash = new Map<string, string>();
      for (const sender of sent.bySender.keys()) byHash.set(await toHash(sender), sender);
      const wrong = [...byHash].map(([hash, sender]) => [hash, sent.bySender.get(sender) ?? 0] as const);
      const counted = await countAttempts(wrong, sent.inTotal);
      if (minute === sentIn) {
        inTotal = Math.max(inTotal, counted.inTotal);
        for (const [hash, count] of counted.bySender) {
          const sender = byHash.get(hash);
          if (sender !== undefined) raise(sender, Math.max(count, counts.get(sender) ?? 0));
        }
      }
    } catch {
      // While the store is unavailable, each process counts separately.
    }
    isSharing = false;
    shareSoon();
  }

  return {
    waitOf(networks) {
      enterMinute();
      const isOver = networks.some((sender, index) => (counts.get(sender) ?? 0) >= (MAX_ATTEMPTS[index] ?? 0));
      return isOver ? (minute + 1) * Minute - now() : 0;
    },
    add(networks) {
      enterMinute();
      inTotal += 1;
      unsent.inTotal += 1;
      for (const sender of networks) {
        raise(sender, (counts.get(sender) ?? 0) + 1);
        prepare(sender);
      }
      shareSoon();
    },
    get isFlood() {
      return inTotal > MAX_ATTEMPTS_OF_ALL;
    },
  };
}

/**
 * Hashes senders with a key that takes some 50 ms to derive. With a fast key, a reader of the store who knows the
 * address of one sender could try out tokens. The key is derived when the first wrong token arrives.
 */
function createSenderHash(secret: string): (sender: string) => Promise<string> {
  let key: Promise<Buffer> | undefined;
  return async function toHash(sender) {
    key ??= promisify<string, string, number, Buffer>(scrypt)(secret, 'spillway attempts', 32);
    return createHmac('sha256', await key)
      .update(sender)
      .digest('base64url')
      .slice(0, 22);
  };
}
