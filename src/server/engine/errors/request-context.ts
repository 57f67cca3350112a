import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import type { Step } from '../http/step.ts';

const storage = new AsyncLocalStorage<IncomingMessage>();

/** Lets whatever a request starts be traced back to it: a rejection that nobody handles is that request's failure. */
export function requestContext(): Step {
  return function requestContext(req, _res, next) {
    storage.run(req, next);
  };
}

/** The request that the running code works for. */
export function currentRequest(): IncomingMessage | undefined {
  return storage.getStore();
}
