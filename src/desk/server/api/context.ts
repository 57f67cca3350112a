import { type Auth, HttpError } from '#engine/server';
import { parseAddress } from '#engine/tracker';
import type { DeskFacts } from '../facts.ts';
import type { FoundIncident } from '../store/records.ts';
import { toDeletedWords } from '../views/present-history.ts';
import type { DeskCalls } from '../worker/desk-calls.ts';
import type { DeskCaller } from './caller.ts';

/** The dependencies of the desk's operations. */
export interface ApiContext {
  readonly auth: Auth<DeskCaller>;
  readonly calls: DeskCalls;
  readonly facts: DeskFacts;
}

export const UNKNOWN = 'No incident has this digest.';

/**
 * @param address `7K3QM2XA` or `7K3QM2XA-9F4W0R6B`, in any spelling
 * @param environment where to look; by default everywhere, first in the environment of this server
 * @throws HttpError 404
 */
export async function requireFound(
  { calls }: Pick<ApiContext, 'calls'>,
  address: string,
  environment: string | undefined,
): Promise<FoundIncident> {
  const found = await calls.find(address, environment);
  if (found) return found;
  const { digest } = parseAddress(address) ?? {};
  const deletion = digest && (await calls.readDeletion(digest, environment));
  throw new HttpError(404, deletion ? toDeletedWords(deletion) : UNKNOWN);
}
