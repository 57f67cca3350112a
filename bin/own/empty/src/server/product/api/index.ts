import { Router } from 'express';
import type { AppParts } from '../context.ts';

/** The API, one line for each resource. */
export function createApi(_parts: AppParts): Router {
  const api = Router();
  return api;
}
