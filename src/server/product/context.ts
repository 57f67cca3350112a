import type { Request, Response } from 'express';
import type { EngineContext } from '../engine/pages/server-page.ts';
import type { ProductSettings } from './settings.ts';

/** What every loader, action and guard gets as `context`. */
export interface AppContext extends EngineContext {
  readonly settings: ProductSettings;
}

export type CreateContext = (request: Request, response: Response) => Omit<AppContext, keyof EngineContext>;

/** Made anew for each dynamic page: here a session or a database handle joins in. */
export function contextCreator(settings: ProductSettings): CreateContext {
  return function createContext(_request, _response) {
    return { settings };
  };
}
