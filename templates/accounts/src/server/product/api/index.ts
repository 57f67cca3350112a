import type { ApiParts } from '#engine/server';
import type { AppParts } from '../context.ts';
import { accountApi } from './account/handlers.ts';

/** The API, one line for each resource: the handlers of its operations, or an Express router. */
export function createApi({ services }: AppParts): ApiParts {
  return [accountApi(services.db)];
}
