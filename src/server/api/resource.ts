import { type RequestHandler, Router } from 'express';
import type { Method } from '../../shared/api/operation.ts';
import { sendAllowed } from '../errors/problem.ts';
import { captureCall } from '../request/definition.ts';
import { HttpError, methodNotAllowed, notFoundHere } from '../request/http-error.ts';
import { isApiPath } from '../request/paths.ts';
import { requestInfo } from '../request/request-info.ts';
import { findPattern } from '../request/route-patterns.ts';
import { POST_METHODS } from '../request/step.ts';

export type Methods = { readonly [M in Method]?: RequestHandler | readonly RequestHandler[] };

/**
 * Routes the methods of one path: `resource('/notes/:id', { GET: show, PATCH: [...jsonBody(), update] })`. HEAD
 * follows GET, OPTIONS is answered with `Allow`, and every other method gets 405. The path matches in exact case.
 */
export function resource(path: string, methods: Methods): Router {
  const router = Router({ caseSensitive: true });
  const allow = listAllowed(methods);
  const call = captureCall(resource);
  const route = router.route(path);
  route.all((req, _res, next) => {
    const info = requestInfo(req);
    info.route = findPattern(req.route);
    info.definition = { call, part: req.method === 'HEAD' ? 'GET' : req.method };
    next();
  });
  route.options((_req, res) => sendAllowed(res, allow));
  for (const [name, handler] of Object.entries(methods)) {
    route[toVerb(name as Method)](...[handler].flat()); // the keys of `Methods`
  }
  route.all(() => {
    throw methodNotAllowed(allow);
  });
  return router;
}

/** Answers unknown paths under `/api` with JSON, never with a page. */
export function apiNotFound(): RequestHandler {
  return function apiNotFound(req, _res, next) {
    const info = requestInfo(req);
    info.express = undefined; // the route of a router that has passed the request on
    next(isApiPath(info.path) ? notFoundHere() : undefined);
  };
}

/** Answers 405 to PUT, PATCH and DELETE on paths that no router claimed: a page can only be read or posted to. */
export function unclaimedMethods(): RequestHandler {
  return function unclaimedMethods(req, res, next) {
    if (req.method === 'OPTIONS') {
      sendAllowed(res, POST_METHODS);
    } else if (req.method === 'PUT' || req.method === 'PATCH' || req.method === 'DELETE') {
      next(new HttpError(405, 'A page can be read or posted to, nothing else.', { Allow: POST_METHODS }));
    } else {
      next();
    }
  };
}

function listAllowed(methods: Methods): string {
  const names: string[] = Object.keys(methods);
  if (methods.GET) names.splice(names.indexOf('GET') + 1, 0, 'HEAD');
  return [...names, 'OPTIONS'].join(', ');
}

function toVerb(method: Method): 'get' | 'post' | 'put' | 'patch' | 'delete' {
  return method.toLowerCase() as Lowercase<Method>;
}
