import { isIP } from 'node:net';
import { parseAddress } from '../../engine/errors/parse-address.ts';
import { toSender } from '../../engine/request/to-sender.ts';
import { NO_DAY, toVisitorHash } from '../../reports/tunnel/visitors.ts';
import type { Store } from '../store/store.ts';

/**
 * Deletes the failures of a visitor.
 *
 * @param text the address of one of the failures, an IP address, the visitor id that the desk shows, or the id that the
 *   product's `visitorId` returns. An IP address finds failures of today and yesterday: the salts of other days are gone
 * @returns the number of deleted failures
 */
export async function forgetVisitor(text: string, store: Store): Promise<number> {
  const whom = text.trim();
  const address = parseAddress(whom);
  // A visitor id can look like an address.
  const found = address?.occurrence === undefined ? undefined : await store.find(address);
  if (found?.occurrence) {
    const { key, occurrence, visitor } = found.occurrence;
    if (visitor !== undefined) return store.forgetVisitor(visitor);
    return (await store.deleteOccurrence(key, occurrence, 'desk')) ? 1 : 0;
  }
  const visitors = [whom, ...(isIP(whom) > 0 ? await hashAddress(whom, store) : [])];
  let count = 0;
  for (const visitor of visitors) count += await store.forgetVisitor(visitor);
  return count;
}

async function hashAddress(ip: string, store: Store): Promise<string[]> {
  const salts = await store.readSalts([]);
  return salts.filter(({ day }) => day !== NO_DAY).map(({ salt }) => toVisitorHash(salt, toSender(ip)));
}
