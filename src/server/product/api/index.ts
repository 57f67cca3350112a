import { Router } from 'express';
import type { AppParts } from '../context.ts';
import { failRouter } from './fail/router.ts';
import { todosRouter } from './todos/router.ts';

/** The API, one line for each resource. */
export function createApi({ settings, services }: AppParts): Router {
  const api = Router();
  api.use('/tour', todosRouter(services.todos));
  api.use('/tour', failRouter(settings));
  return api;
}
