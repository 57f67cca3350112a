import { toAddressText } from '../../../engine/errors/parse-address.ts';
import type { Desk } from '../../desk.ts';
import { FEEDBACK_AGE, FEEDBACK_LIMITS } from '../../limits.ts';
import type { Feedback } from '../journal-entry.ts';
import { createTokenBuckets } from '../tunnel/token-buckets.ts';

/** Feedback whose failure is not known yet. */
export type GivenFeedback = Omit<Feedback, 'address'>;

/** The subject of the feedback, according to its sender: the address on the page, or the id of an event. */
export type About = { readonly address: string } | { readonly eventId: string };

export type KeptFeedback = 'kept' | 'unknown' | 'limited' | 'failed';

export interface KeepFeedback {
  /**
   * Counts one attempt of a sender.
   *
   * @param sender `toSender()` of the address
   * @returns 0, or the milliseconds until the sender can try again
   */
  takeTurn(sender: string): number;
  /**
   * Journals feedback about a failure of the last day in this environment. Anything else is dropped, because
   * strangers can send it.
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

/** Creates the one instance for the form and the tunnel, so that they share the limits. */
export function createKeepFeedback({ desk, environment, limits }: KeepFeedbackOptions): KeepFeedback {
  const { turnsOfSender, turns, ofFailure, bytesOfSender, bytes } = { ...FEEDBACK_LIMITS, ...limits };
  const senderTurns = createTokenBuckets(turnsOfSender);
  const allTurns = createTokenBuckets(turns);
  const failures = createTokenBuckets(ofFailure);
  const senderBytes = createTokenBuckets(bytesOfSender);
  const allBytes = createTokenBuckets(bytes);

  /** @returns the digest, and the address of the occurrence if that is stored */
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
