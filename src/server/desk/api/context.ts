import { Hour } from '../../../shared/units.ts';
import { HttpError } from '../../engine/errors/http-error.ts';
import type { Desk } from '../desk.ts';
import type { DeskFacts } from '../pages/context.ts';
import type { Incident } from '../store/records.ts';

/** What the resources of the desk are made of. */
export interface ApiContext {
  readonly ask: Desk['ask'];
  readonly facts: DeskFacts;
}

/** Another one with whatever is stored, and each hour, because charts and filters by time move on. */
export async function readVersion({ ask, facts }: ApiContext): Promise<string> {
  return [await ask('readChanges'), Math.floor(Date.now() / Hour), facts.release].join(' ');
}

export const UNKNOWN = 'No incident has this digest.';

/**
 * The incident that stands for a digest.
 *
 * @param environment where to look; by default everywhere, first in the environment of this server
 * @throws HttpError 404
 */
export async function requireIncident(
  { ask }: ApiContext,
  digest: string,
  { environment }: { readonly environment?: string | undefined },
): Promise<Incident> {
  const found = await ask('find', digest, environment);
  if (!found) throw new HttpError(404, UNKNOWN);
  return found.incident;
}
