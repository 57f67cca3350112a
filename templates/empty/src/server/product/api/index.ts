import type { ApiParts } from '#engine/server';
import type { AppParts } from '../context.ts';

/** The API, one line for each resource: the handlers of its operations, or an Express router. */
export function createApi(_parts: AppParts): ApiParts {
  return [];
}
