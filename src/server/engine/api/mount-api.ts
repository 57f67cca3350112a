import type { RequestHandler } from 'express';
import * as z from 'zod';
import { operation } from '../../../shared/engine/api/operation.ts';
import { type ApiStore, createMemoryStore } from './api-store.ts';
import { type ApiPart, type Implemented, implement } from './implement.ts';
import { provideOperations } from './local-client.ts';
import { createOpenApi, type DocumentFacts, type OpenApi } from './openapi.ts';
import { serveOperation, serveOperations } from './serve-operations.ts';

/** What is under `/api`: parts made by `implement()`, and Express handlers for everything else. */
export type ApiParts = RequestHandler | readonly (ApiPart | RequestHandler)[];

export interface MountOptions {
  /** The Express app, where `localClient()` finds the operations. */
  readonly app?: object;
  readonly base: string;
  /** False: there is no document. */
  readonly document: DocumentFacts | false;
  /** For limits and `Idempotency-Key`. By default in memory. */
  readonly store?: ApiStore;
}

/** Returns the handlers of an API, in order: its operations with their document, then its Express handlers. */
export function mountApi(
  api: ApiParts,
  { app, base, document, store = createMemoryStore() }: MountOptions,
): RequestHandler[] {
  const parts = typeof api === 'function' ? [api] : api;
  const handlers = parts.filter((part) => typeof part === 'function');
  const implemented = parts.flatMap((part) => (typeof part === 'function' ? [] : part.implemented));
  if (implemented.length === 0) return handlers;
  const described = document === false ? [] : describeApi(implemented, document, base);
  const operations = [...implemented, ...described].map(serveOperation);
  if (app) provideOperations(app, operations);
  return [serveOperations(operations, { base, store }), ...handlers];
}

const documentOperations = {
  getOpenApi: operation({
    method: 'GET',
    path: '/openapi.json',
    summary: 'This document',
    isOpen: true,
    replies: { 200: { about: 'OpenAPI 3.1.', body: z.looseObject({ openapi: z.string() }) } },
  }),
};

/** The document as an operation, which is in the document too. It is created for the first request. */
function describeApi(implemented: readonly Implemented[], document: DocumentFacts, base: string): Implemented[] {
  let made: OpenApi | undefined;
  const own = implement(documentOperations, {
    getOpenApi() {
      made ??= createOpenApi({ ...document, base, operations: [...implemented, ...own] });
      return { status: 200, body: { ...made } };
    },
  }).implemented;
  return [...own];
}
