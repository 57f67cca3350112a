import { toAddressText } from '../../address.ts';
import type { Desk } from '../../desk.ts';
import { FEEDBACK_AGE, FEEDBACK_LIMITS } from '../../limits.ts';
import type { Feedback } from '../journal-entry.ts';
import { createTokenBuckets } from '../tunnel/token-buckets.ts';

/** Feedback before it is known which failure it is about. */
export type GivenFeedback = Omit<Feedback, 'address'>;

/** What the sender says it is about: the address that was shown, or the id of an event. */
export type About = { readonly address: string } | { readonly eventId: string };

export type KeptFeedback = 'kept' | 'unknown' | 'limited' | 'failed';

export interface KeepFeedback {
  /**
   * Takes one turn of a sender.
   *
   * @param sender `toSender()` of the address
   * @returns milliseconds until the sender may try again; 0 if it may now
   */
  takeTurn(sender: string): number;
  /**
   * Keeps feedback about a failure of the last day that this environment stored; anything else is
   * dropped, because strangers can send it.
   *
   * @throws StoreAwayError
   */
  keep(given: GivenFeedback, about: About, sender: string): Promise<KeptFeedback>;
}

export interface KeepFeedbackOptions {
  readonly desk: Pick<Desk, 'ask' | 'journalFeedback'>;
  readonly environment: string;
  readonly limits?: Partial<typeof FEEDBACK_LIMITS>;
}

/** One for all ways that feedback arrives by, so that they share the limits. */
export function createKeepFeedback({ desk, environment, limits }: KeepFeedbackOptions): KeepFeedback {
  const { turnsOfSender, turns, ofFailure, bytesOfSender, bytes } = { ...FEEDBACK_LIMITS, ...limits };
  const senderTurns = createTokenBuckets(turnsOfSender);
  const allTurns = createTokenBuckets(turns);
  const failures = createTokenBuckets(ofFailure);
  const senderBytes = createTokenBuckets(bytesOfSender);
  const allBytes = createTokenBuckets(bytes);

  /** @returns the digest and, if it is kept, the occurrence */
  async function findRecent(about: About): Promise<{ digest: string; address: string } | undefined> {
    if ('eventId' in about) {
      const event = await desk.ask('findEvent', about.eventId);
      return event && { digest: event.digest, address: toAddressText(event) };
    }
    const found = await desk.ask('find', about.address, environment);
    if (!found || found.state === 'unknown') return undefined;
    const { incident, occurrence } = found;
    if ((occurrence?.at ?? incident.lastAt) < Date.now() - FEEDBACK_AGE) return undefined;
    return { digest: incident.digest, address: occurrence ? toAddressText(occurrence) : incident.digest };
  }

  return {
    takeTurn: (sender) => senderTurns.take(sender) || allTurns.take(''),
    async keep(given, about, sender) {
      const recent = await findRecent(about);
      if (!recent) return 'unknown';
      const feedback: Feedback = { ...given, address: recent.address };
      const size = Buffer.byteLength(JSON.stringify(feedback));
      const isLimited = failures.take(recent.digest) || senderBytes.take(sender, size) || allBytes.take('', size);
      if (isLimited > 0) return 'limited';
      return desk.journalFeedback(feedback) ? 'kept' : 'failed';
    },
  };
}
