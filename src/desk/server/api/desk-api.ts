import { type ErrorRequestHandler, type RequestHandler, Router } from 'express';
import { type DocumentFacts, HttpError } from '#engine/server';
import { apiNotFound, type CheckToken, mountApi, privateReplies } from '#engine/tracker';
import { Second } from '../../../shared/units.ts';
import { DESK_API_PATH } from '../../shared/href.ts';
import { RETRY_LONGEST } from '../desk-limits.ts';
import type { DeskFacts } from '../facts.ts';
import { StoreError } from '../store/sql.ts';
import { toStoreWords } from '../store-words.ts';
import type { DeskCalls } from '../worker/desk-calls.ts';
import { createCallerAuth, requireCaller } from './caller.ts';
import type { ApiContext } from './context.ts';
import { incidentApi, incidentMarkdown } from './incident.ts';
import { incidentsApi } from './incidents.ts';
import { occurrencesApi } from './occurrences.ts';

interface DeskApiOptions {
  readonly calls: DeskCalls;
  readonly facts: DeskFacts;
  readonly checkToken: CheckToken;
}

/** Serves the operators' actions to programs. It answers every request under its path. */
export function createDeskApi({ calls, facts, checkToken }: DeskApiOptions): RequestHandler {
  const context: ApiContext = { auth: createCallerAuth(checkToken), calls, facts };
  const parts = [incidentsApi, incidentApi, occurrencesApi].map((toPart) => toPart(context));
  const { operations, handlers } = mountApi(parts, { base: DESK_API_PATH, document: DOCUMENT });
  return Router()
    .use(privateReplies(), keepPrivate, requireCaller(context.auth))
    .get('/incidents/:digest', incidentMarkdown(context))
    .use(operations, ...handlers)
    .use(apiNotFound())
    .use(tellAway);
}

const PROBLEMS = {
  401: 'The token is missing or not valid.',
  429: 'Too many wrong tokens were sent from this address.',
  503: 'The store is unavailable, or its database refused or did not finish a query.',
};
const MAY_NOT = 'The token is read-only, or a browser sent the request from another site.';

const DOCUMENT: DocumentFacts = {
  title: 'Desk',
  version: '1',
  about:
    'Everything that operators do on the pages of the desk. Use a token of `OPERATOR_TOKEN`, or of `VIEWER_TOKEN` for read-only access. Times are in milliseconds since 1970.',
  problems: (method) => (method === 'GET' ? PROBLEMS : { ...PROBLEMS, 403: MAY_NOT }),
};

const keepPrivate: RequestHandler = function keepPrivate(_req, res, next) {
  res.setHeader('X-Robots-Tag', 'noindex, nofollow');
  res.vary('Authorization');
  next();
};

/** Answers 503, because the desk is not at fault. Express recognizes error handlers by their four parameters. */
const tellAway: ErrorRequestHandler = function tellAway(error, _req, _res, next) {
  const retryAfter = { 'Retry-After': String(RETRY_LONGEST / Second) };
  next(error instanceof StoreError ? new HttpError(503, toStoreWords(error), retryAfter) : error);
};
