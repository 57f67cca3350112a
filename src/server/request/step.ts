import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Express, Request, Response } from 'express';
import { notFoundHere } from './http-error.ts';

/** One step in handling a request: it answers or calls `next()`. It works in an Express app and in front of one. */
export type Step = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void | Promise<void>;

/** Answers a request that failed. It works at the end of an Express app and in front of it, and never passes on. */
export type ErrorHandler = (error: unknown, req: IncomingMessage, res: ServerResponse, next?: unknown) => void;

/**
 * Runs the steps in order, until one answers. Errors of a step go to `fail`, even if the step before it continued in a
 * later turn of the event loop. If the client left before that turn, nothing more runs.
 */
export function chain(steps: readonly Step[], fail: ErrorHandler): RequestListener {
  return function chain(req, res) {
    let position = 0;
    const refuse = (error: unknown) => fail(error, req, res);
    function next(error?: unknown): void {
      if (res.closed) return;
      if (error) {
        refuse(error);
        return;
      }
      const step = steps[position];
      position += 1;
      try {
        if (step) step(req, res, next)?.catch(refuse);
        else refuse(notFoundHere());
      } catch (thrown) {
        refuse(thrown);
      }
    }
    next();
  };
}

/**
 * Makes a request one of Express, as its handlers expect it. Within an Express app it is one already. It costs as much as
 * several steps.
 */
export function toExpress(app: Express, req: IncomingMessage, res: ServerResponse): Request {
  const [request, response] = [req as Request, res as Response];
  if ('app' in req) return request;
  request.res = response;
  response.req = request;
  response.locals = Object.create(null);
  request.originalUrl = request.url;
  request.baseUrl = '';
  request.params = {};
  Object.setPrototypeOf(request, app.request);
  Object.setPrototypeOf(response, app.response);
  return request;
}

/** Makes an Express app the last step. It only calls back if its own error handling fell through. */
export function intoExpress(app: Express, fail: ErrorHandler): RequestListener {
  return function intoExpress(req, res) {
    app(req as Request, res as Response, (error: unknown) => fail(error ?? notFoundHere(), req, res));
  };
}

/**
 * Calls `listener` once the response closes, because it was sent or because its client left. If it has closed
 * already, `listener` runs before this returns. Use it instead of `res.once('close')` after an asynchronous
 * step: a closed response never emits that event again.
 */
export function onClose(res: ServerResponse, listener: () => void): void {
  if (res.closed) listener();
  else res.once('close', listener);
}

/**
 * Whether an `EventSource` reads the response: it ends only if the client leaves or the server stops, and the client
 * connects again. `fetch()` does not, and the events that answer it can have an end.
 */
export function isStream(res: ServerResponse): boolean {
  const { method, headers } = res.req;
  const isEventSource = method === 'GET' && /^text\/event-stream\b/i.test(headers.accept ?? '');
  return isEventSource && /^text\/event-stream\b/i.test(String(res.getHeader('Content-Type')));
}

/** Emitted on the responses in flight, again and again, while the server stops. */
export const STOPPING = Symbol('spillway.stopping');

/** The responses that the server cut because a stop took too long. */
export const cutResponses = new WeakSet<ServerResponse>();

/** The responses that the server left incomplete because of an error. */
export const brokenResponses = new WeakSet<ServerResponse>();

/** The methods that Spillway's paths accept, and that metrics and spans name. */
export const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Values of `Allow`: for all methods, for a page, and for a page with an action. */
export const ALL_METHODS = [...METHODS].join(', ');
export const READ_METHODS = 'GET, HEAD, OPTIONS';
export const POST_METHODS = 'GET, HEAD, POST, OPTIONS';

/** True for a request that changes nothing and has no body. */
export function isRead({ method }: Pick<IncomingMessage, 'method'>): boolean {
  return method === 'GET' || method === 'HEAD';
}
