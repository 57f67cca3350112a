import type { Express, RequestHandler } from 'express';
import * as z from 'zod';
import { operation } from '../../shared/api/operation.ts';
import { requireMembers } from '../errors/wiring-error.ts';
import { SECURITY_HEADERS } from '../front/security-headers.ts';
import { requestInfo } from '../request/request-info.ts';
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
}

export function mountApi(api: ApiParts, { app, base, document, store = createMemoryStore() }: MountOptions) {
  const parts = typeof api === 'function' ? [api] : api;
  requireMembers('api', parts, (part) => typeof part === 'function' || Object(part).implemented !== undefined);
  const handlers = parts.filter((part) => typeof part === 'function');
  const implemented = parts.flatMap((part) => (typeof part === 'function' ? [] : part.implemented));
  const described = implemented.length > 0 && document !== false ? describeApi(implemented, document, base) : undefined;
  const operations = [...implemented, ...(described?.implemented ?? [])].map(serveOperation);
  if (app) provideOperations(app, operations);
  const find = createFinder(operations);
  return {
    /** Answers the operations and their document. It needs nothing of Express. */
    operations: serveOperations(find, { app, base, store }),
    /** Names the route of a request in front of the steps. */
    named: nameOperation(find, base),
    /** The Express handlers, and the reference. */
    handlers: [...handlers, ...(described?.reference ?? [])],
    /** Whether something here can answer requests for a path. The paths of handlers are not known. */
    canAnswer: (path: string) =>
      handlers.length > 0 || (path.startsWith(base) && find(path.slice(base.length)) !== undefined),
  };
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
  const read = once((): OpenApi => createOpenApi({ ...facts, base, operations: [...own, ...implemented] }));
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
