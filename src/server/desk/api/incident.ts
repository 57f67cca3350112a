import type { RequestHandler } from 'express';
import type * as z from 'zod';
import { operation } from '../../../shared/engine/api/operation.ts';
import { type ApiPart, implement } from '../../engine/api/implement.ts';
import { HttpError } from '../../engine/errors/http-error.ts';
import { chooseShown } from '../pages/find-shown.ts';
import type { ChangeBy, StateChange } from '../store/change-incident.ts';
import type { FoundIncident, Incident } from '../store/records.ts';
import { toIncidentMarkdown } from '../views/incident-markdown.ts';
import { presentStatus } from '../views/present-status.ts';
import { NO_TEST } from '../views/present-test.ts';
import { readIncident } from '../views/read-incident.ts';
import { toStandingWords } from '../views/standing-words.ts';
import type { DeskCaller } from './caller.ts';
import { type ApiContext, requireFound, requireIncident, UNKNOWN } from './context.ts';
import { toExpected, toIncidentTag } from './incident-tag.ts';
import { presentIncident } from './present.ts';
import { ChangedIncident, Incident as IncidentReply, Test } from './replies.ts';
import { IfMatch, IncidentPatch, InEnvironment, OfIncident, OfTest } from './requests.ts';

const CONFLICT = 'The incident has changed since the `ETag` in `If-Match`.';
const TAGGED = {
  'Content-Location': 'The URL of the incident, if the failure has another digest now.',
};

const operations = {
  getIncident: operation({
    method: 'GET',
    path: '/incidents/:digest',
    summary: 'Get an incident with its details',
    about: 'Everything that its page shows. With `Accept: text/markdown`, the response is Markdown.',
    params: OfIncident,
    query: InEnvironment,
    replies: { 200: { about: 'The incident.', body: IncidentReply, headers: TAGGED } },
    problems: { 404: UNKNOWN },
  }),
  getTest: operation({
    method: 'GET',
    path: '/incidents/:digest/test',
    summary: 'Get a test that fails in the same way',
    about: 'It passes when the bug is fixed. Parts that were not recorded are marked with TODO.',
    params: OfIncident,
    query: OfTest,
    replies: { 200: { about: 'The test.', body: Test } },
    problems: { 404: NO_TEST },
  }),
  changeIncident: operation({
    method: 'PATCH',
    path: '/incidents/:digest',
    summary: 'Change the state of an incident',
    about:
      'With `If-Match`, the change is refused if the incident has changed since. New occurrences do not count as a change. Without it, the change overwrites the current state, and `replaced` has the old one.',
    params: OfIncident,
    query: InEnvironment,
    headers: IfMatch,
    body: IncidentPatch,
    replies: {
      200: {
        about: 'The incident was changed.',
        body: ChangedIncident,
        headers: { ETag: 'The tag of the changed incident.', ...TAGGED },
      },
    },
    problems: { 404: UNKNOWN, 412: CONFLICT },
  }),
  deleteIncident: operation({
    method: 'DELETE',
    path: '/incidents/:digest',
    summary: 'Delete an incident',
    about: 'Its counts are deleted too. If the failure happens again, it is a new incident.',
    params: OfIncident,
    query: InEnvironment,
    headers: IfMatch,
    replies: { 204: { about: 'The incident was deleted.' } },
    problems: { 404: UNKNOWN, 412: CONFLICT },
  }),
};

export function incidentApi(context: ApiContext): ApiPart {
  const { calls } = context;
  return implement(
    operations,
    {
      async getIncident({ params, query }) {
        const found = await requireFound(context, params.digest, query.environment);
        const presented = await present(found, context);
        return { status: 200, body: presented, headers: toHeaders(presented, params.digest) };
      },
      async getTest({ params: { digest }, query: { environment, occurrence } }) {
        const address = occurrence === undefined ? digest : `${digest}-${occurrence}`;
        const { latest } = await presentAddress(address, context, environment);
        if (!latest?.full?.test) throw new HttpError(404, NO_TEST);
        return { status: 200, body: latest.full.test };
      },
      async changeIncident({ params, query, headers, body, caller }) {
        const current = await requireIncident(context, params.digest, query);
        const by = toChangeBy(caller, headers, current);
        const changed = await calls.changeState(current.key, toState(body.status), by);
        if (changed.outcome === 'unknown') throw new HttpError(404, UNKNOWN);
        if (changed.outcome === 'conflict') throw toConflict(changed.incident);
        const { before, after } = changed;
        const incident = await present({ incident: after }, context);
        return {
          status: 200,
          body: {
            incident,
            replaced: { status: presentStatus(before), version: String(before.version) },
          },
          headers: toHeaders(incident, params.digest),
        };
      },
      async deleteIncident({ params, query, headers, caller }) {
        const current = await requireIncident(context, params.digest, query);
        const gone = await calls.deleteIncident(current.key, toChangeBy(caller, headers, current));
        if (gone.outcome === 'unknown') throw new HttpError(404, UNKNOWN);
        if (gone.outcome === 'conflict') throw toConflict(gone.incident);
        return { status: 204 };
      },
    },
    context,
  );
}

/** Answers requests that accept Markdown rather than JSON, and passes the others on. */
export function incidentMarkdown(context: Context): RequestHandler {
  return async function sendMarkdown(req, res, next) {
    res.vary('Accept');
    if (req.accepts(['application/json', 'text/markdown']) !== 'text/markdown') return next();
    const { digest } = req.params;
    const { environment } = req.query;
    const found = await requireFound(
      context,
      String(digest),
      typeof environment === 'string' ? environment : undefined,
    );
    const data = await readFound(found, found.occurrence?.occurrence, context);
    res.type('text/markdown').send(toIncidentMarkdown(data));
  };
}

type Context = Pick<ApiContext, 'calls' | 'facts'>;

/** Returns everything about an incident, with its latest occurrence. */
function present({ incident }: FoundIncident, context: Context): Promise<ReturnType<typeof presentIncident>> {
  return presentShown({ incident }, undefined, context);
}

/**
 * Returns everything about the incident of an address, with the occurrence that it names as the latest one.
 *
 * @throws HttpError 404
 */
async function presentAddress(
  address: string,
  context: Context,
  environment?: string,
): Promise<ReturnType<typeof presentIncident>> {
  const found = await requireFound(context, address, environment);
  return presentShown(found, found.occurrence?.occurrence, context);
}

async function presentShown(found: FoundIncident, occurrence: string | undefined, context: Context) {
  return presentIncident(await readFound(found, occurrence, context));
}

async function readFound(found: FoundIncident, occurrence: string | undefined, { calls, facts }: Context) {
  const shown = await chooseShown(found, occurrence, calls);
  const { links, environment } = facts;
  return readIncident(shown, { calls, links, environment, now: Date.now() });
}

function toHeaders(presented: ReturnType<typeof presentIncident>, asked: string): Record<string, string> {
  const { digest, environment } = presented;
  return {
    ETag: toIncidentTag(presented),
    ...(digest !== asked && {
      'Content-Location': `/api/desk/incidents/${digest}?${new URLSearchParams({ environment })}`,
    }),
  };
}

function toChangeBy({ name }: DeskCaller, headers: z.output<typeof IfMatch>, current: Incident): ChangeBy {
  const expected = toExpected(headers['if-match'], current);
  return { author: name, ...(expected !== undefined && { expected }) };
}

function toConflict(current: Incident): HttpError {
  return new HttpError(
    412,
    `The incident was changed in the meantime: ${toStandingWords(current)}. Get it again, then repeat the change.`,
  );
}

type Patch = z.output<typeof IncidentPatch>;

function toState(status: Patch['status']): StateChange {
  if (status.state !== 'ignored') return status;
  const { state, until, untilMore } = status;
  return { state, ...(until !== undefined && { until }), ...(untilMore !== undefined && { growth: untilMore }) };
}
