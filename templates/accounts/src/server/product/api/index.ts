import type { ApiParts } from '#engine/server';
import type { AppParts } from '../context.ts';
import { notesApi } from './notes/handlers.ts';

/** The API, one line for each resource: the handlers of its operations, or an Express router. */
export function createApi({ services }: AppParts): ApiParts {
  return [notesApi(services)];
}
