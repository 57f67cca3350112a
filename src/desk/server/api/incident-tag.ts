import { createHash } from 'node:crypto';
import type { Incident } from '../store/records.ts';

/**
 * Returns the `ETag` of an incident: the version that changes are checked against, and a hash of everything in the
 * reply. A reader thus sees each new occurrence, but only another change makes a change fail.
 */
export function toIncidentTag(presented: { readonly version: string }): string {
  const hash = createHash('sha256').update(JSON.stringify(presented)).digest('base64url').slice(0, 16);
  return `"${presented.version}.${hash}"`;
}

/** A version that no incident has. */
const NO_VERSION = -1;

/**
 * Returns the version that `If-Match` asks for; undefined if any version is accepted. A weak tag matches nothing (RFC
 * 9110, section 13.1.1).
 *
 * @param current preferred if the header has several tags
 */
export function toExpected(ifMatch: string | undefined, current: Pick<Incident, 'version'>): number | undefined {
  if (ifMatch === undefined || ifMatch === '*') return undefined;
  const versions = ifMatch.split(',').map((tag) => {
    const [, version] = /^"(\d{1,15})\.[\w-]+"$/.exec(tag.trim()) ?? [];
    return version === undefined ? NO_VERSION : Number(version);
  });
  return versions.includes(current.version) ? current.version : (versions[0] ?? NO_VERSION);
}
