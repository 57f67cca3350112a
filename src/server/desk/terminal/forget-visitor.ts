import { existsSync, readdirSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { Day } from '../../../shared/units.ts';
import { parseAddress } from '../../engine/errors/parse-address.ts';
import { toSender } from '../../engine/request/to-sender.ts';
import { hashAddress, hashId, NO_DAY, toVisitorHash } from '../../reports/tunnel/visitors.ts';
import { TerminalError } from '../../terminal/terminal-error.ts';
import { clearLines, clearTaken } from '../ingest/clear-lines.ts';
import type { JournalEntry } from '../ingest/journal-entry.ts';
import { toSubject } from '../store/occurrences/feedback-table.ts';
import type { Store } from '../store/store.ts';
import type { Forgotten } from '../store/visitors/forget-visitor.ts';
import type { Secret } from '../store/visitors/secret-table.ts';
import { listRunFolders } from './list-journals.ts';

/** The visitor whose data is to be deleted, and how to find it. */
export interface WhomToForget extends Forgotten {
  readonly visitors: readonly string[];
  /** Sentences that say how the text was interpreted, and what cannot be found with it. */
  readonly words: readonly string[];
}

/** A visitor id as `tunnel/visitors.ts` makes it. */
const VISITOR = /^[\w-]{16}$/;

/**
 * Finds out which visitor a text means. It can be
 * - the address of an occurrence: the visitor of that occurrence, on that day
 * - an email address
 * - an IP address: its visitors on the days whose salts are kept
 * - a visitor id as the desk shows it
 * - the id that the product's `visitorId` returns, which can look like any of these.
 *
 * @throws TerminalError if the occurrence is not kept
 */
export async function readWhom(
  text: string,
  store: Store,
  { now, maxAge }: { readonly now: number; readonly maxAge: number },
): Promise<WhomToForget> {
  const whom = text.trim();
  const address = parseAddress(whom);
  if (address?.occurrence !== undefined) {
    const found = (await store.find(address))?.occurrence;
    if (found) return toOccurrence(found);
  }
  const secrets = await store.listSecrets();
  const ids = hashAsId(whom, secrets);
  if (isIP(whom) > 0) {
    const hasOld = secrets.some(({ name }) => name === 'old');
    const words = [toDayWords(secrets, now), hasOld ? OLD_RELEASES : OLD_DAYS, AS_ID];
    return { visitors: [...ids, ...hashAsAddress(whom, secrets, { now, maxAge })], words };
  }
  if (/^[^\s@]+@[^\s@]+$/.test(whom)) return { visitors: ids, email: whom, words: [AS_EMAIL, NOT_BY_EMAIL, AS_ID] };
  if (VISITOR.test(whom)) return { visitors: [...ids, whom], words: [AS_VISITOR, AS_ID] };
  if (address?.occurrence !== undefined) {
    throw new TerminalError('This failure was only counted and not recorded, so its visitor is unknown.');
  }
  return { visitors: ids, words: [AS_ID] };
}

const AS_ID = 'Searched all data for it as an id from your visitorId.';
const AS_EMAIL = 'Searched all feedback for it as an email address.';
const NOT_BY_EMAIL =
  'Failures cannot be found by an email address. Use the address of a failure, the IP address, or your own id for the visitor.';
const AS_VISITOR = 'Searched for it as a visitor id that the desk shows. Such an id covers one day.';
const OLD_DAYS = 'Failures of earlier days cannot be found by an IP address, because their salts are deleted.';
const OLD_RELEASES =
  'For earlier days, only data from older versions of Spillway is found, because they used one salt for all days.';

function toOccurrence({
  occurrence,
  visitor,
}: {
  readonly occurrence: string;
  readonly visitor?: string;
}): WhomToForget {
  const words =
    visitor === undefined
      ? 'Searched for this failure only, because its visitor is unknown.'
      : 'Searched for this failure and all others of the same visitor on that day.';
  return { visitors: visitor === undefined ? [] : [visitor], occurrence, words: [words] };
}

function toDayWords(secrets: readonly Secret[], now: number): string {
  const days = secrets.filter((of) => isDaily(of) && of.day * Day <= now);
  const list = [...new Set(days.map(({ day }) => new Date(day * Day).toISOString().slice(0, 10)))].sort();
  return list.length === 0
    ? 'It looks like an IP address, but cannot be searched for as one: the database has no salt of today or yesterday.'
    : `Searched for it as an IP address in failures of ${list.join(' and ')} (UTC).`;
}

function isDaily({ name, day }: Secret): boolean {
  return name === 'visitor' && day !== NO_DAY;
}

/** Hashes an id. Includes salts from before schema 10 for as long as they are kept. */
function hashAsId(id: string, secrets: readonly Secret[]): string[] {
  return secrets.flatMap((of) => {
    if (of.name === 'old') return toVisitorHash(of.secret, `id ${id}`);
    return of.name === 'visitor' && of.day === NO_DAY ? hashId(of.secret, id) : [];
  });
}

function hashAsAddress(
  address: string,
  secrets: readonly Secret[],
  { now, maxAge }: { readonly now: number; readonly maxAge: number },
): string[] {
  const today = Math.floor(now / Day);
  const days = Array.from({ length: maxAge / Day + 2 }, (_none, index) => today + 1 - index);
  return secrets.flatMap((of) => {
    if (of.name === 'old') return days.map((day) => toVisitorHash(of.secret, `${day} ${toSender(address)}`));
    return isDaily(of) ? hashAddress(of.secret, address) : [];
  });
}

/**
 * Deletes a visitor's lines from the files of this folder: journal entries that are in the store, and entries that the
 * store refused.
 *
 * @param names the visitor's occurrences that were in the store
 */
export async function forgetInFiles(
  store: Store,
  dataDir: string,
  whom: Forgotten,
  names: ReadonlySet<string>,
): Promise<void> {
  const isGone = toIsGone(whom, names);
  for (const { run, folder } of listRunFolders(dataDir)) clearTaken(folder, await store.readPosition(run), isGone);
  for (const path of listDeadLetters(dataDir)) clearLines(path, isGone);
}

/** Lists the files with entries that the store refused, one entry a line. */
function listDeadLetters(dataDir: string): string[] {
  return listFiles(dataDir)
    .filter((name) => name.startsWith('dead-letter'))
    .map((name) => join(dataDir, name));
}

/** Lists copies of the database that a restore or a corrupt file left. They are never changed. */
export function listCopies(dataDir: string): string[] {
  return listFiles(dataDir).filter((name) => /^desk\.sqlite\.(?:before-restore|corrupt)-.*(?<!-wal|-shm)$/.test(name));
}

function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}

function toIsGone(
  { visitors = [], email, occurrence: wanted = '' }: Forgotten,
  names: ReadonlySet<string>,
): (entry: JournalEntry) => boolean {
  const hashes = new Set(visitors);
  const gone = new Set([...names, wanted]);
  const isTheirs = (visitor = '', occurrence = '') => hashes.has(visitor) || gone.has(occurrence);
  return (entry) => {
    switch (entry.entry) {
      case 'whole': {
        const { visitor, occurrence, echoOf } = entry.failure;
        return (
          isTheirs(visitor, occurrence) || (echoOf !== undefined && gone.has(parseAddress(echoOf)?.occurrence ?? ''))
        );
      }
      case 'thin':
        return isTheirs(entry.thin.visitor, entry.thin.occurrence);
      case 'feedback': {
        const { visitor, email: given } = entry.feedback;
        const isSaidByThem = email !== undefined && given?.toLowerCase() === email.toLowerCase();
        return isSaidByThem || isTheirs(visitor, toSubject(entry.feedback).occurrence);
      }
      case 'count':
      case 'salt':
        return false;
    }
  };
}
