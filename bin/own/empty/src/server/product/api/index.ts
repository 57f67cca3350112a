import { Router } from 'express';
import type { AppParts } from '../context.ts';

/** The API, with one line per resource. */
export function createApi(_parts: AppParts): Router {
  const api = Router();
  return api;
}
