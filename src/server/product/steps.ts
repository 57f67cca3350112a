import { Router } from 'express';

/** What happens to each request before pages and API see it: `Router().use(session(…))`. */
export function createSteps(): Router {
  return Router();
}
