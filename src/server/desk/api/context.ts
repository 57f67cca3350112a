import { Hour } from '../../../shared/units.ts';
import type { Auth } from '../../engine/api/auth.ts';
import { HttpError } from '../../engine/errors/http-error.ts';
import type { Desk } from '../desk.ts';
import type { DeskFacts } from '../pages/context.ts';
import type { Found, Incident } from '../store/records.ts';
import { toDeletedWords } from '../views/standing-words.ts';
import type { DeskCaller } from './caller.ts';

/** The dependencies of the desk's operations. */
export interface ApiContext {
  readonly auth: Auth<DeskCaller>;
  readonly ask: Desk['ask'];
  /** Returns the failures that are not in the store yet. */
  readonly arriving: () => Desk['arriving'];
  readonly facts: DeskFacts;
}

/** Returns a version that changes with everything stored, and each hour, because charts and time filters move on. */
export async function readVersion({ ask, facts }: ApiContext): Promise<string> {
  return [await ask('readChanges'), Math.floor(Date.now() / Hour), facts.release].join(' ');
}

export const UNKNOWN = 'No incident has this digest.';

/**
 * Returns the incident of a digest, or the incident that the digest was merged into.
 *
 * @param environment where to look; by default everywhere, first in the environment of this server
 * @throws HttpError 404
 */
export async function requireIncident(
  { ask }: ApiContext,
  digest: string,
  { environment }: { readonly environment?: string | undefined },
): Promise<Incident> {
  return (await requireFound({ ask }, digest, environment)).incident;
}

/** @param address `7K3QM2XA` or `7K3QM2XA-9F4W0R6B`. @throws HttpError 404 */
export async function requireFound(
  { ask }: Pick<ApiContext, 'ask'>,
  address: string,
  environment: string | undefined,
): Promise<Found> {
  const found = await ask('find', address, environment);
  if (found) return found;
  const deletion = await ask('readDeletion', address.slice(0, 8), environment);
  throw new HttpError(404, deletion ? toDeletedWords(deletion) : UNKNOWN);
}
