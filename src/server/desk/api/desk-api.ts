import { type ErrorRequestHandler, type RequestHandler, Router } from 'express';
import { Second } from '../../../shared/units.ts';
import type { CheckToken } from '../../access/check-token.ts';
import { jsonBody } from '../../engine/api/body-limits.ts';
import { mountApi } from '../../engine/api/mount-api.ts';
import type { DocumentFacts } from '../../engine/api/openapi.ts';
import { apiNotFound, resource } from '../../engine/api/resource.ts';
import { HttpError } from '../../engine/errors/http-error.ts';
import { privateReplies } from '../../engine/protection/private-replies.ts';
import type { Desk } from '../desk.ts';
import { RETRY_LONGEST } from '../limits.ts';
import type { DeskFacts } from '../pages/context.ts';
import { toStoreWords } from '../pages/unless-away.ts';
import { StoreError } from '../store/sql.ts';
import { createCallerAuth, MCP_PATH, requireCaller } from './caller.ts';
import type { ApiContext } from './context.ts';
import { exportApi } from './export.ts';
import { feedbackApi } from './feedback.ts';
import { incidentApi } from './incident.ts';
import { incidentsApi } from './incidents.ts';
import { notesApi } from './notes.ts';
import { notificationsApi } from './notifications.ts';
import { occurrencesApi } from './occurrences.ts';
import { routesApi } from './routes.ts';

export interface DeskApiOptions {
  readonly desk: Pick<Desk, 'ask' | 'arriving'>;
  readonly facts: DeskFacts;
  readonly checkToken: CheckToken;
  /** Whether coding agents can use it by the Model Context Protocol. */
  readonly hasMcp: boolean;
}

/** The path that the API is mounted at. */
export const DESK_API_PATH = '/api/desk';

export function isDeskApiPath(path: string): boolean {
  return path === DESK_API_PATH || path.startsWith(`${DESK_API_PATH}/`);
}

/** Serves the operators' actions to programs. It answers every request under its path. */
export function createDeskApi({ desk, facts, checkToken, hasMcp }: DeskApiOptions): RequestHandler {
  const context: ApiContext = {
    auth: createCallerAuth(checkToken),
    ask: (name, ...args) => desk.ask(name, ...args),
    arriving: () => desk.arriving,
    facts,
  };
  const parts = PARTS.map((toPart) => toPart(context));
  const { operations, handlers } = mountApi(parts, { base: DESK_API_PATH, document: DOCUMENT });
  let mcp: Promise<RequestHandler> | undefined;
  const toMcp: RequestHandler = async (req, res, next) => {
    mcp ??= import('./mcp.ts').then(({ createMcp }) => createMcp(context));
    await (await mcp)(req, res, next);
  };
  return Router()
    .use(privateReplies(), keepPrivate, requireCaller(context.auth))
    .use(...(hasMcp ? [resource(MCP_PATH, { POST: [...jsonBody(), toMcp] })] : []), operations, ...handlers)
    .use(apiNotFound())
    .use(tellAway);
}

const PARTS = [
  incidentsApi,
  incidentApi,
  occurrencesApi,
  notesApi,
  feedbackApi,
  exportApi,
  notificationsApi,
  routesApi,
];

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
