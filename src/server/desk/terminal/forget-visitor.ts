import { isIP } from 'node:net';
import { Day } from '../../../shared/units.ts';
import { type Address, parseAddress } from '../address.ts';
import { type CallKey, keyOf } from '../store/incident-key.ts';
import type { Store } from '../store/store.ts';
import { createVisitors, hashVisitorId } from '../tunnel/visitors.ts';
import { clearJournals } from './clear-journals.ts';
import { TerminalError } from './terminal-error.ts';

/** Whom to forget, and what in a line of a journal says that it is theirs. */
export interface WhomToForget {
  readonly visitors: readonly string[];
  readonly email?: string;
  readonly occurrence?: { readonly key: CallKey; readonly occurrence: string };
}

export interface Forgot {
  readonly occurrences: number;
  readonly feedback: number;
}

/** As `tunnel/visitors.ts` makes it. */
const VISITOR = /^[\w-]{16}$/;

/**
 * Reads whom somebody means: the address of an occurrence (then its visitor of that day), an e-mail
 * address, an IP address (then its visitors of all days that are kept), a visitor's id as the desk
 * shows it, or the owner's own id of somebody, which may look like any of these.
 *
 * @throws TerminalError for an occurrence that is not kept
 */
export async function readWhom(
  text: string,
  store: Store,
  { now, maxAge }: { readonly now: number; readonly maxAge: number },
): Promise<WhomToForget> {
  const whom = text.trim();
  const address = parseAddress(whom);
  const isOccurrence = address?.occurrence !== undefined;
  const kept = isOccurrence ? await readOccurrence(address, store) : undefined;
  if (kept) return kept;
  const { salt = '' } = await store.readMeta();
  const owners = hashVisitorId(salt, whom);
  if (isIP(whom) > 0) return { visitors: [owners, ...hashAddress(whom, salt, { now, maxAge })] };
  if (/^[^\s@]+@[^\s@]+$/.test(whom)) return { visitors: [owners], email: whom };
  if (VISITOR.test(whom)) return { visitors: [owners, whom] };
  if (isOccurrence) {
    throw new TerminalError('This occurrence is not kept: nothing of it is left but that it was counted.');
  }
  return { visitors: [owners] };
}

async function readOccurrence(address: Address, store: Store): Promise<WhomToForget | undefined> {
  const found = await store.find(address);
  if (!found?.occurrence) return undefined;
  const { occurrence, visitor } = found.occurrence;
  return {
    visitors: visitor === undefined ? [] : [visitor],
    occurrence: { key: keyOf(found.incident), occurrence },
  };
}

/** One for each day of which something may be kept. */
function hashAddress(address: string, salt: string, { now, maxAge }: { now: number; maxAge: number }): string[] {
  const days = Array.from({ length: maxAge / Day + 2 }, (_none, index) => now + Day - index * Day);
  return days.map((day) => createVisitors({ salt: () => salt, now: () => day })(address));
}

/** In the store first: from then on nothing of them is taken in any more. */
export async function forgetInStore(store: Store, whom: WhomToForget, author: string): Promise<Forgot> {
  const { visitors, email, occurrence } = whom;
  const said = occurrence === undefined ? 0 : await countFeedback(store, occurrence);
  const isGone =
    occurrence !== undefined && (await store.deleteOccurrence(occurrence.key, occurrence.occurrence, author));
  const forgot = await store.forgetVisitor({ visitors, ...(email !== undefined && { email }) });
  return { occurrences: forgot.occurrences + (isGone ? 1 : 0), feedback: forgot.feedback + said };
}

/** It goes with the occurrence, which does not tell how much it was. */
async function countFeedback(
  store: Store,
  { key, occurrence }: NonNullable<WhomToForget['occurrence']>,
): Promise<number> {
  const said = await store.listFeedback(key, MAX_FEEDBACK);
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
