import type { RequestHandler } from 'express';
import * as z from 'zod';
import { operation } from '#engine';
import { type ApiPart, HttpError, implement } from '#engine/server';
import { type IncidentShape, Incident as Reply } from '../../shared/shapes.ts';
import type { FoundIncident } from '../store/records.ts';
import { QueryFailedError } from '../store/sql.ts';
import { toIncidentMarkdown } from '../views/incident-markdown.ts';
import { presentIncident } from '../views/present-incident.ts';
import { type ApiContext, requireFound, requireIncident, UNKNOWN } from './context.ts';
import { IncidentPatch, InEnvironment, OfIncident } from './requests.ts';

const MOVED = {
  'Content-Location': 'The URL of the incident, if the failure has another digest now.',
};

const ChangedIncident = z.strictObject({ incident: Reply }).meta({ id: 'ChangedIncident' });

const operations = {
  getIncident: operation({
    method: 'GET',
    path: '/incidents/:digest',
    summary: 'Get an incident with its details',
    about:
      'Everything that its page shows: with an address, of that occurrence. With `Accept: text/markdown`, the response is Markdown.',
    params: OfIncident,
    query: InEnvironment,
    replies: { 200: { about: 'The incident.', body: Reply, headers: MOVED } },
    problems: { 404: UNKNOWN },
  }),
  changeIncident: operation({
    method: 'PATCH',
    path: '/incidents/:digest',
    summary: 'Change the state of an incident',
    params: OfIncident,
    query: InEnvironment,
    body: IncidentPatch,
    replies: { 200: { about: 'The incident was changed.', body: ChangedIncident, headers: MOVED } },
    problems: { 404: UNKNOWN },
  }),
  deleteIncident: operation({
    method: 'DELETE',
    path: '/incidents/:digest',
    summary: 'Delete an incident',
    about: 'Its counts are deleted too. If the failure happens again, it is a new incident.',
    params: OfIncident,
    query: InEnvironment,
    replies: { 204: { about: 'The incident was deleted.' } },
    problems: { 404: UNKNOWN },
  }),
};

export function incidentApi(context: ApiContext): ApiPart {
  const { calls } = context;
  return implement(
    operations,
    {
      async getIncident({ params, query }) {
        const found = await requireFound(context, params.digest, query.environment);
        if (found.state === 'arriving') throw new QueryFailedError('arriving', params.digest);
        const incident = await readFound(found, context);
        return { status: 200, body: incident, headers: toHeaders(incident, params.digest) };
      },
      async changeIncident({ params, query, body, caller }) {
        const { key } = await requireIncident(context, params.digest, query);
        const changed = await calls.changeState(key, body.status, caller.name);
        if (!changed) throw new HttpError(404, UNKNOWN);
        const incident = await readFound({ incident: changed }, context);
        return { status: 200, body: { incident }, headers: toHeaders(incident, params.digest) };
      },
      async deleteIncident({ params, query }) {
        const { key } = await requireIncident(context, params.digest, query);
        if (!(await calls.deleteIncident(key))) throw new HttpError(404, UNKNOWN);
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
    res.type('text/markdown').send(toIncidentMarkdown(await readFound(found, context), Date.now()));
  };
}

type Context = Pick<ApiContext, 'calls' | 'facts'>;

/** Returns everything about an incident, with the occurrence of the address, or the latest one that is stored in full. */
async function readFound(found: FoundIncident, { calls, facts }: Context) {
  const details = await calls.readDetails(found.incident.key, found.occurrence?.occurrence);
  const { links, environment } = facts;
  return presentIncident(found, details, { links, environment, now: Date.now() });
}

function toHeaders({ digest, environment }: IncidentShape, asked: string): Record<string, string> {
  if (asked.startsWith(digest)) return {};
  return { 'Content-Location': `/api/desk/incidents/${digest}?${new URLSearchParams({ environment })}` };
}
