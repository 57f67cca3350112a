import type { Step } from './step.ts';

/** What each reply starts with is for answers of ours; an existing app's pages go on as they were. */
export function withoutPolicy(): Step {
  return function withoutPolicy(_req, res, next) {
    res.removeHeader('Content-Security-Policy');
    res.removeHeader('Cache-Control');
    next();
  };
}
