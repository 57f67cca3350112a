import type { ServerResponse } from 'node:http';
import { type Express, type RequestHandler, Router } from 'express';
import * as z from 'zod';
import { operation } from '../../shared/api/operation.ts';
import { requireMembers } from '../errors/wiring-error.ts';
import type { ApiOrigins } from '../front/api-origins.ts';
import { SECURITY_HEADERS, toPrivateCaching } from '../front/security-headers.ts';
import { isApiPath, onlyFor } from '../request/paths.ts';
import { requestInfo } from '../request/request-info.ts';
import { recordPatterns } from '../request/route-patterns.ts';
import type { Step } from '../request/step.ts';
import { type ApiStore, createMemoryStore } from './api-store.ts';
import { type ApiPart, type Implemented, implement } from './implement.ts';
import { provideOperations } from './local-client.ts';
import { createOpenApi, type DocumentFacts, type OpenApi } from './openapi.ts';
import { REFERENCE_POLICY, renderReference } from './reference-page.ts';
import { resource } from './resource.ts';
import { serveOperation } from './run-operation.ts';
import { createFinder, nameOperation, serveOperations } from './serve-operations.ts';

/** What is under `/api`: parts made by `implement()`, and Express handlers for everything else. */
export type ApiParts = RequestHandler | readonly (ApiPart | RequestHandler)[];

export interface MountOptions {
  /** Where `localClient()` finds the operations. */
  readonly app?: Express;
  readonly base: string;
  /** False: there is no document. */
  readonly document: DocumentFacts | false;
  /** For limits and `Idempotency-Key`. By default in memory. */
  readonly store?: ApiStore;
  /** See `serveOperations()`. */
  readonly compress?: ((res: ServerResponse) => void) | undefined;
}

export function mountApi(api: ApiParts, options: MountOptions) {
  const { app, base, document, store = createMemoryStore(), compress } = options;
  const parts = typeof api === 'function' ? [api] : api;
  requireMembers('api', parts, (part) => typeof part === 'function' || Object(part).implemented !== undefined);
  const handlers = parts.filter((part) => typeof part === 'function');
  const implemented = parts.flatMap((part) => (typeof part === 'function' ? [] : part.implemented));
  const described = implemented.length > 0 && document !== false ? describeApi(implemented, document, base) : undefined;
  const operations = [...implemented, ...(described?.implemented ?? [])].map(serveOperation);
  if (app) provideOperations(app, operations);
  const find = createFinder(operations, base);
  return {
    /** Answers the operations and their document. It needs nothing of Express. */
    operations: serveOperations(find, { app, base, store, compress }),
    /** Names the route of a request in front of the steps. */
    named: nameOperation(find, base),
    /** The Express handlers, and the reference. */
    handlers: [...handlers, ...(described?.reference ?? [])],
    /** Whether something here can answer requests for a path. The paths of handlers are not known. */
    canAnswer: (path: string) =>
      handlers.length > 0 || (path.startsWith(base) && find(path.slice(base.length)) !== undefined),
  };
}

/** The product's API. */
export interface SiteApi {
  readonly parts: ApiParts | undefined;
  readonly document?: DocumentFacts | false | undefined;
  readonly store?: ApiStore | undefined;
  /** Other origins whose scripts can call it. */
  readonly origins: ApiOrigins | undefined;
}

interface ProductsApiOptions extends Pick<MountOptions, 'compress'> {
  readonly app: Express;
  /** Whether a path is of this API. */
  readonly covers: (path: string) => boolean;
}

/** Paths of the API differ by case, as those of operations do. */
const EXACT = { caseSensitive: true };

/** Makes the steps of the product's API. */
export function mountProductsApi(
  { parts = [], document = { title: 'API', version: '1' }, store }: SiteApi,
  { app, covers, compress }: ProductsApiOptions,
) {
  const { operations, named, handlers, canAnswer } = mountApi(parts, { app, base: '/api', document, store, compress });
  const answer: Step = (req, res, next) => {
    if (!covers(requestInfo(req).path)) return next();
    res.setHeader('Cache-Control', toPrivateCaching(req));
    return operations(req, res, next);
  };
  const router = handlers.length > 0 && Router(EXACT).use('/api', ...handlers);
  if (router) recordPatterns(router);
  return { named, operations: answer, handlers: router && onlyFor(isApiPath, router), canAnswer };
}

export const DOCUMENT_PATH = '/openapi.json';
export const REFERENCE_PATH = '/docs';

const documentOperations = {
  getOpenApi: operation({
    method: 'GET',
    path: DOCUMENT_PATH,
    summary: 'This document',
    replies: { 200: { about: 'OpenAPI 3.1.', body: z.looseObject({ openapi: z.string() }) } },
  }),
};

/** The document as an operation, which is in the document too, and the reference. Both are made for the first request. */
function describeApi(own: readonly Implemented[], facts: DocumentFacts, base: string) {
  const { auth, reference } = facts;
  const read = once((): OpenApi => createOpenApi(facts, base, [...own, ...implemented]));
  const getOpenApi = () => ({ status: 200 as const, body: { ...read() } });
  const { implemented } = implement(documentOperations, { getOpenApi }, auth && { auth });
  const render = once(() => renderReference(read()));
  const show: RequestHandler = async (req, res) => {
    requestInfo(req).isOperation = true;
    await auth?.identify(req);
    for (const [name, value] of SECURITY_HEADERS) res.setHeader(name, value);
    res.setHeader('Content-Security-Policy', REFERENCE_POLICY);
    res.type('html').send(render());
  };
  return { implemented, reference: reference === false ? [] : [resource(REFERENCE_PATH, { GET: show })] };
}

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
