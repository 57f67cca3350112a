import { isIP } from 'node:net';
import { parseAddress } from '../../engine/errors/parse-address.ts';
import { toSender } from '../../engine/request/to-sender.ts';
import { NO_DAY, toVisitorHash } from '../../reports/tunnel/visitors.ts';
import type { IncidentKey } from '../store/incident-key.ts';
import type { Occurrence } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { TerminalError } from './terminal-error.ts';

/**
 * Deletes the failures of a visitor.
 *
 * @param text the address of one of the failures, an IP address, the visitor id that the desk shows, or the id that the
 *   product's `visitorId` returns. An IP address finds failures of today and yesterday: the salts of other days are gone
 * @returns the number of deleted failures
 * @throws TerminalError if the address is unknown
 */
export async function forgetVisitor(text: string, store: Store): Promise<number> {
  const whom = text.trim();
  const address = parseAddress(whom);
  const found = address?.occurrence === undefined ? undefined : await store.find(address);
  if (found?.occurrence) return forgetByFailure(found.occurrence, found.incident.key, store);
  const addressHashes = isIP(whom) > 0 ? await hashAddress(whom, store) : [];
  let count = 0;
  for (const visitor of [whom, ...addressHashes]) count += await store.forgetVisitor(visitor);
  // An id of a visitor can have the form of an address.
  if (count === 0 && address?.occurrence !== undefined) {
    throw new TerminalError('This failure is not stored, so its visitor is unknown.');
  }
  return count;
}

async function hashAddress(ip: string, store: Store): Promise<string[]> {
  const salts = await store.readSalts([]);
  return salts.filter(({ day }) => day !== NO_DAY).map(({ salt }) => toVisitorHash(salt, toSender(ip)));
}

async function forgetByFailure({ visitor, occurrence }: Occurrence, key: IncidentKey, store: Store): Promise<number> {
  if (visitor !== undefined) return store.forgetVisitor(visitor);
  await store.deleteOccurrence(key, occurrence, 'desk');
  return 1;
}
