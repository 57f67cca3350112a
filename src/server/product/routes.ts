import { Router } from 'express';

/** What is neither a page nor under `/api`: `Router().get('/sitemap.xml', …)`. It is called with the settings. */
export function createRoutes(): Router {
  return Router();
}
