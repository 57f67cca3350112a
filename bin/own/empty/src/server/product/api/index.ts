import { Router } from 'express';
import type { ProductSettings } from '../settings.ts';

export interface ApiDeps {
  readonly settings: ProductSettings;
}

export function mountApi(_deps: ApiDeps): Router {
  const api = Router();
  return api;
}
