import type { ApiParts } from '#engine/server';
import type { AppParts } from '../context.ts';
import { failRouter } from './fail/router.ts';
import { todosApi } from './todos/handlers.ts';

/** The API, one line for each resource: the handlers of its operations, or an Express router. */
export function createApi({ settings, services }: AppParts): ApiParts {
  return [todosApi(services.todos), failRouter(settings)];
}
