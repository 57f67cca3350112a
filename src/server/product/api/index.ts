import { Router } from 'express';
import type { ProductSettings } from '../settings.ts';
import { failRouter } from './fail/router.ts';
import { todosRouter } from './todos/router.ts';
import { createTodoStore } from './todos/store.ts';

export interface ApiDeps {
  readonly settings: ProductSettings;
}

/** Everything of the product's under `/api`, one line a resource. */
export function mountApi({ settings }: ApiDeps): Router {
  const api = Router();
  api.use('/tour', todosRouter(createTodoStore()));
  api.use('/tour', failRouter(settings));
  return api;
}
