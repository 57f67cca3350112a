import { toAddressText } from '../../engine/errors/parse-address.ts';
import type { About, Feedback, KeepFeedback } from '../../reports/feedback/feedback.ts';
import { createTokenBuckets } from '../../reports/tunnel/token-buckets.ts';
import type { Desk } from '../desk.ts';
import { FEEDBACK_AGE, FEEDBACK_LIMITS } from '../limits.ts';

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
