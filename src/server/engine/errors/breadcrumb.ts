import { currentRequest } from '../request/request-info.ts';
import type { Breadcrumb } from './failure.ts';

/**
 * Leaves a mark on the trail of the request that the running code works for: an incident shows what
 * led to it. Outside of a request it does nothing.
 *
 * @param data few and short: values are cut at 250 characters, and scrubbed of what looks like a secret
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
