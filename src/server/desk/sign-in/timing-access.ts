import type { ReadTimingAccess } from '../../engine/pages/timings.ts';
import type { ReadAccess } from './access.ts';
import { readSessionCookie } from './session-cookie.ts';

/** Whoever is signed in to the desk sees what pages spend their time on; of others nothing is asked. */
export function createTimingAccess(readAccess: ReadAccess): ReadTimingAccess {
  return function readTimingAccess(req, res) {
    if (readSessionCookie(req) === undefined) return undefined;
    return readAccess(req, res).then(({ operator }) => operator !== undefined);
  };
}
