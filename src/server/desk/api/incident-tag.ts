import { createHash } from 'node:crypto';
import type { Incident } from '../store/records.ts';

/**
 * The `ETag` of an incident as it is answered: the version that changes are checked against, and a hash
 * of all that is told. So a reader hears of each occurrence, and a change is refused for another change
 * alone.
 */
export function toIncidentTag(told: { readonly version: string }): string {
  const hash = createHash('sha256').update(JSON.stringify(told)).digest('base64url').slice(0, 16);
  return `"${told.version}.${hash}"`;
}

/** No incident has it. */
const NO_VERSION = -1;

/**
 * The version that `If-Match` asks for; undefined where any will do. A weak tag matches nothing (RFC
 * 9110, section 13.1.1).
 *
 * @param current told where the header has several
 */
export function toExpected(ifMatch: string | undefined, current: Pick<Incident, 'version'>): number | undefined {
  if (ifMatch === undefined || ifMatch === '*') return undefined;
  const versions = ifMatch.split(',').map((tag) => {
    const [, version] = /^"(\d{1,15})\.[\w-]+"$/.exec(tag.trim()) ?? [];
    return version === undefined ? NO_VERSION : Number(version);
  });
  return versions.includes(current.version) ? current.version : (versions[0] ?? NO_VERSION);
}
