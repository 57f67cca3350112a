import { currentRequest } from '../request/request-info.ts';
import type { Breadcrumb } from './failure.ts';

/**
 * Adds a breadcrumb to the request that the running code works for, so that an incident shows what led to it. Outside
 * a request it does nothing.
 *
 * @param data few and short values: each is cut at 250 characters, and scrubbed of anything that looks like a secret
 */
export function addBreadcrumb(
  category: string,
  message: string,
  { level, data }: Pick<Breadcrumb, 'level' | 'data'> = {},
): void {
  currentRequest()?.addBreadcrumb({
    at: Date.now(),
    category,
    message,
    ...(level ? { level } : {}),
    ...(data ? { data } : {}),
  });
}
