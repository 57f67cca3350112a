import { type ErrorRequestHandler, type RequestHandler, Router } from 'express';
import { Second } from '../../../shared/units.ts';
import { type OpenApiOptions, openApi } from '../../engine/api/openapi.ts';
import type { Resource } from '../../engine/api/resource.ts';
import { HttpError, notFoundHere } from '../../engine/errors/http-error.ts';
import { privateReplies } from '../../engine/protection/private-replies.ts';
import type { CheckToken } from '../access/check-token.ts';
import type { Desk } from '../desk.ts';
import { RETRY_LONGEST } from '../limits.ts';
import type { DeskFacts } from '../pages/context.ts';
import { toStoreWords } from '../pages/unless-away.ts';
import { StoreError } from '../store/sql.ts';
import { requireCaller } from './caller.ts';
import type { ApiContext } from './context.ts';
import { exportOneResource, exportResource } from './export.ts';
import { feedbackResource, oneFeedbackResource } from './feedback.ts';
import { incidentResource, mergeResource, separateResource } from './incident.ts';
import { buildsResource, findResource, incidentsResource } from './incidents.ts';
import { noteResource, notesResource } from './notes.ts';
import { notificationsResource, testNotificationsResource } from './notifications.ts';
import { occurrenceResource, occurrencesResource } from './occurrences.ts';

export interface DeskApiOptions {
  readonly desk: Pick<Desk, 'ask' | 'arriving'>;
  readonly facts: DeskFacts;
  readonly checkToken: CheckToken;
}

/** Where it is mounted. */
export const DESK_API_PATH = '/api/desk';

export function isDeskApiPath(path: string): boolean {
  return path === DESK_API_PATH || path.startsWith(`${DESK_API_PATH}/`);
}

/** What operators do on the desk's pages, for programs. It answers everything that it is mounted for. */
export function createDeskApi({ desk, facts, checkToken }: DeskApiOptions): RequestHandler {
  const resources = listResources({
    ask: (name, ...args) => desk.ask(name, ...args),
    arriving: () => desk.arriving,
    facts,
  });
  return Router()
    .use(privateReplies(), keepPrivate)
    .use(openApi('/openapi.json', { ...DOCUMENT, resources }))
    .use(requireCaller(checkToken))
    .use(resources)
    .use(() => {
      throw notFoundHere();
    })
    .use(tellAway);
}

function listResources(context: ApiContext): Resource[] {
  return [
    incidentsResource(context),
    incidentResource(context),
    mergeResource(context),
    separateResource(context),
    occurrencesResource(context),
    occurrenceResource(context),
    notesResource(context),
    noteResource(context),
    feedbackResource(context),
    oneFeedbackResource(context),
    exportResource(context),
    exportOneResource(context),
    findResource(context),
    buildsResource(context),
    notificationsResource(context),
    testNotificationsResource(context),
  ];
}

const PROBLEMS = {
  401: 'There is no token, or it is none of this desk.',
  429: 'There were too many wrong tokens from this address.',
  503: 'The store is away, or its database refused or did not finish a query.',
};
const MAY_NOT = 'The token is a viewer’s, or a browser sends this from another site.';

const DOCUMENT: Omit<OpenApiOptions, 'resources'> = {
  title: 'Desk',
  version: '1',
  about:
    'What operators do on the pages of the desk. Tokens are those of `OPERATOR_TOKEN` and `VIEWER_TOKEN`; a viewer’s changes nothing. Times are milliseconds since 1970.',
  base: DESK_API_PATH,
  security: { token: { type: 'http', scheme: 'bearer' } },
  problems: (method) => (method === 'GET' ? PROBLEMS : { ...PROBLEMS, 403: MAY_NOT }),
};

const keepPrivate: RequestHandler = function keepPrivate(_req, res, next) {
  res.setHeader('X-Robots-Tag', 'noindex, nofollow');
  res.vary('Authorization');
  next();
};

/** There is nothing to mend in the desk. Express tells error handlers by their four parameters. */
const tellAway: ErrorRequestHandler = function tellAway(error, _req, _res, next) {
  const retryAfter = { 'Retry-After': String(RETRY_LONGEST / Second) };
  next(error instanceof StoreError ? new HttpError(503, toStoreWords(error), retryAfter) : error);
};
