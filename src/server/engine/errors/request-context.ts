import { AsyncLocalStorage } from 'node:async_hooks';
import { type RequestInfo, requestInfo } from '../request/request-info.ts';
import type { Step } from '../request/step.ts';

const storage = new AsyncLocalStorage<RequestInfo>();

/**
 * Lets whatever a request starts be traced back to it: a rejection that nobody handles is that
 * request's failure. The context holds what is known of the request and not the request, since the
 * timer of an idle connection keeps it for as long as the visitor stays.
 */
export function requestContext(): Step {
  return function requestContext(req, _res, next) {
    storage.run(requestInfo(req), next);
  };
}

/** The request that the running code works for. */
export function currentRequest(): RequestInfo | undefined {
  return storage.getStore();
}
