import { isIP } from 'node:net';
import { Day } from '../../../shared/units.ts';
import { type Address, parseAddress } from '../address.ts';
import { OCCURRENCE_AGE } from '../limits.ts';
import type { Store } from '../store/store.ts';
import { createVisitors } from '../tunnel/visitors.ts';
import { clearJournals } from './clear-journals.ts';
import { TerminalError, UsageError } from './terminal-error.ts';

/** Whom to forget, and what in a line of a journal says that it is theirs. */
export interface WhomToForget {
  readonly visitors: readonly string[];
  readonly email?: string;
  readonly occurrence?: Required<Address>;
}

export interface Forgot {
  readonly occurrences: number;
  readonly feedback: number;
}

/** As `tunnel/visitors.ts` makes it. */
const VISITOR = /^[\w-]{16}$/;

/**
 * Reads whom somebody means: the address of an occurrence (then its visitor of that day), an e-mail
 * address, an IP address (then its visitors of all days that are kept), or a visitor's id as the desk
 * shows it.
 *
 * @throws UsageError for what is none of them
 * @throws TerminalError for an occurrence that is not kept
 */
export async function readWhom(text: string, store: Store, now: number): Promise<WhomToForget> {
  const whom = text.trim();
  if (isIP(whom) > 0) return { visitors: await hashAddress(whom, store, now) };
  if (/^[^\s@]+@[^\s@]+$/.test(whom)) return { visitors: [], email: whom };
  const address = parseAddress(whom);
  const found = address?.occurrence === undefined ? undefined : await store.find(address);
  const kept = found?.occurrence;
  if (kept) {
    const occurrence = { digest: found.incident.digest, occurrence: kept.occurrence };
    return { visitors: kept.visitor === undefined ? [] : [kept.visitor], occurrence };
  }
  if (VISITOR.test(whom)) return { visitors: [whom] };
  if (address?.occurrence !== undefined) {
    throw new TerminalError('This occurrence is not kept: nothing of it is left but that it was counted.');
  }
  throw new UsageError(
    'Name whom to forget: the visitor that an occurrence shows, an e-mail address, the address of an occurrence (7K3QM2XA-9F4W0R6B), or an IP address.',
  );
}

/** One for each day of which something may be kept. */
async function hashAddress(address: string, store: Store, now: number): Promise<string[]> {
  const { salt = '' } = await store.readMeta();
  const days = Array.from({ length: OCCURRENCE_AGE / Day + 2 }, (_none, index) => now + Day - index * Day);
  return days.map((day) => createVisitors({ salt: () => salt, now: () => day })(address));
}

/** In the store first: from then on nothing of them is taken in any more. */
export async function forgetInStore(store: Store, whom: WhomToForget, author: string): Promise<Forgot> {
  const { visitors, email, occurrence } = whom;
  const said = occurrence === undefined ? 0 : await countFeedback(store, occurrence);
  const isGone = occurrence !== undefined && (await store.deleteOccurrence(occurrence, author));
  const forgot = await store.forgetVisitor({ visitors, ...(email !== undefined && { email }) });
  return { occurrences: forgot.occurrences + (isGone ? 1 : 0), feedback: forgot.feedback + said };
}

/** It goes with the occurrence, which does not tell how much it was. */
async function countFeedback(store: Store, { digest, occurrence }: Required<Address>): Promise<number> {
  const said = await store.listFeedback(digest, MAX_FEEDBACK);
  return said.filter(({ address }) => address?.endsWith(occurrence)).length;
}

const MAX_FEEDBACK = 1000;

/** Then in the journals of this folder, of which the store has all. */
export function forgetInJournals(store: Store, dataDir: string, whom: WhomToForget): Promise<void> {
  const visitors = new Set(whom.visitors);
  const email = whom.email?.toLowerCase();
  return clearJournals({
    dataDir,
    readPosition: (run) => store.readPosition(run),
    isGone(entry) {
      switch (entry.entry) {
        case 'whole':
          return visitors.has(entry.failure.visitor ?? '') || entry.failure.occurrence === whom.occurrence?.occurrence;
        case 'thin':
          return visitors.has(entry.thin.visitor ?? '') || entry.thin.occurrence === whom.occurrence?.occurrence;
        case 'feedback': {
          const { visitor = '', email: given, address } = entry.feedback;
          const isTheirs = visitors.has(visitor) || (email !== undefined && given?.toLowerCase() === email);
          return isTheirs || (whom.occurrence !== undefined && address?.endsWith(whom.occurrence.occurrence) === true);
        }
        case 'count':
          return false;
      }
    },
  });
}
