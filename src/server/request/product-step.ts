import type { ErrorRequestHandler, Express, RequestHandler, Response } from 'express';
import { notFoundHere } from './http-error.ts';
import { toPageUrl } from './paths.ts';
import { requestInfo } from './request-info.ts';
import { type Step, toExpress } from './step.ts';

/** Whether a step of the product needs nothing of Express's router. It handles errors, and mounts apps. */
export function runsAlone(step: RequestHandler): boolean {
  return step.length < 4 && !('mountpath' in step);
}

/** The same step for Express. It does not run if the response closed while an earlier step waited. */
export function inRouter(step: RequestHandler): RequestHandler[] {
  const dropClosed: RequestHandler = (_req, res, next) => void (res.closed || next());
  return [seenAsPage(step), dropClosed];
}

/**
 * Runs a step of the product as Express's router does, which would cost an API answer a quarter more: with its requests and
 * responses, `req.next`, and `next('route')`.
 *
 * @param onError runs first if the step fails
 */
export function productStep(step: RequestHandler, app: Express, onError: ErrorRequestHandler | undefined): Step {
  const run = seenAsPage(step);
  return function productStep(req, res, next) {
    const request = toExpress(app, req, res);
    const response = res as Response;
    requestInfo(req).express = request;
    function pass(error?: unknown): void {
      if (!error || error === 'route') next();
      else if (error === 'router')
        next(notFoundHere()); // leaves the list, as it leaves a router
      else if (onError) onError(error, request, response, next);
      else next(error);
    }
    request.next = pass;
    try {
      const done: unknown = run(request, response, pass);
      if (done instanceof Promise) return done.catch((error) => pass(error || new Error('Rejected promise')));
    } catch (error) {
      pass(error);
    }
    return undefined;
  };
}

/**
 * Runs a step of the product for page data as if the page itself were requested, so that a step that protects `/admin`
 * protects `/_data/admin` too.
 *
 * @returns what the step returns: Express waits for its promise, so a rejection gets a response
 */
function seenAsPage(step: RequestHandler): RequestHandler {
  return function seenAsPage(req, res, next) {
    const { url, originalUrl } = req;
    const pageUrl = toPageUrl(url);
    if (pageUrl === undefined) return step(req, res, next);
    req.url = pageUrl;
    req.originalUrl = pageUrl;
    return step(req, res, (error?: unknown) => {
      req.url = url;
      req.originalUrl = originalUrl;
      next(error);
    });
  };
}
