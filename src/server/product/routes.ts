import { Router } from 'express';

/** What is neither a page nor under `/api`: `Router().get('/sitemap.xml', …)`. */
export function createRoutes(): Router {
  return Router();
}
