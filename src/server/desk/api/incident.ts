import type { Request } from 'express';
import type * as z from 'zod';
import { operation } from '../../engine/api/operation.ts';
import { type Resource, resource } from '../../engine/api/resource.ts';
import { HttpError } from '../../engine/errors/http-error.ts';
import { chooseShown } from '../pages/find-shown.ts';
import { keyOf, toCallKey } from '../store/incident-key.ts';
import type { ChangeBy, IncidentChange } from '../store/incidents/change-incident.ts';
import type { Found, Incident } from '../store/records.ts';
import { presentStatus } from '../views/present-status.ts';
import { readIncident } from '../views/read-incident.ts';
import { toStandingWords } from '../views/standing-words.ts';
import { authorOf } from './caller.ts';
import { type ApiContext, requireFound, requireIncident, UNKNOWN } from './context.ts';
import { toExpected, toIncidentTag } from './incident-tag.ts';
import { presentIncident } from './present.ts';
import { ChangedIncident, Incident as IncidentReply } from './replies.ts';
import { IfMatch, IncidentPatch, InEnvironment, Merge, OfIncident } from './requests.ts';

const CONFLICT = 'Somebody has changed it since it had the `ETag` of `If-Match`.';
const TAGGED = {
  'Content-Location': 'Of the incident, where the digest that was asked for was merged into another one.',
};

export function incidentResource(context: ApiContext): Resource {
  const { ask } = context;
  return resource('/incidents/:digest', {
    GET: operation({
      id: 'getIncident',
      summary: 'Get an incident with its story',
      about: 'All that its page shows. A digest that was merged into another one leads there.',
      params: OfIncident,
      query: InEnvironment,
      replies: { 200: { about: 'The incident.', body: IncidentReply, headers: TAGGED } },
      problems: { 404: UNKNOWN },
    }).handle(async ({ params, query }) => {
      const found = await requireFound(context, params.digest, query.environment);
      const told = await tell(found, context);
      return { status: 200, body: told, headers: toHeaders(told, params.digest) };
    }),

    PATCH: operation({
      id: 'changeIncident',
      summary: 'Change the state of an incident, or who has it',
      about:
        'With `If-Match` it is refused where somebody has changed the incident since; new occurrences are no change. Without, it wins, and `replaced` says over what.',
      params: OfIncident,
      query: InEnvironment,
      headers: IfMatch,
      body: IncidentPatch,
      replies: {
        200: {
          about: 'It was changed.',
          body: ChangedIncident,
          headers: { ETag: 'Of the incident as it is now.', ...TAGGED },
        },
      },
      problems: { 404: UNKNOWN, 412: CONFLICT },
    }).handle(async ({ params, query, headers, body }, request) => {
      const current = await requireIncident(context, params.digest, query);
      const changed = await ask(
        'changeIncident',
        keyOf(current),
        toChange(body),
        toChangeBy(request, headers, current),
      );
      if (changed.outcome === 'unknown') throw new HttpError(404, UNKNOWN);
      if (changed.outcome === 'conflict') throw toConflict(changed.incident);
      const { before, after } = changed;
      const incident = await tell({ incident: after }, context);
      const { assignee } = before;
      return {
        status: 200,
        body: {
          incident,
          replaced: {
            status: presentStatus(before),
            ...(assignee !== undefined && { assignee }),
            version: String(before.version),
          },
        },
        headers: toHeaders(incident, params.digest),
      };
    }),

    DELETE: operation({
      id: 'deleteIncident',
      summary: 'Delete an incident with all that is merged into it',
      about: 'Its counts go too. When it happens again it is a new one.',
      params: OfIncident,
      query: InEnvironment,
      headers: IfMatch,
      replies: { 204: { about: 'It is gone.' } },
      problems: { 404: UNKNOWN, 412: CONFLICT },
    }).handle(async ({ params, query, headers }, request) => {
      const current = await requireIncident(context, params.digest, query);
      const gone = await ask('deleteIncident', keyOf(current), toChangeBy(request, headers, current));
      if (gone.outcome === 'unknown') throw new HttpError(404, UNKNOWN);
      if (gone.outcome === 'conflict') throw toConflict(gone.incident);
      return { status: 204 };
    }),
  });
}

export function mergeResource(context: ApiContext): Resource {
  return resource('/incidents/:digest/merge', {
    POST: operation({
      id: 'mergeIncident',
      summary: 'Let another incident stand for this one too',
      params: OfIncident,
      query: InEnvironment,
      headers: IfMatch,
      body: Merge,
      replies: { 200: { about: 'The incident that stands for both.', body: IncidentReply } },
      problems: { 404: UNKNOWN, 409: 'Both are one already.', 412: CONFLICT },
    }).handle(async ({ params, query, headers, body }, request) => {
      const current = await requireIncident(context, params.digest, query);
      const by = toChangeBy(request, headers, current);
      const into = toCallKey(body.into, current.environment);
      const merged = await context.ask('mergeIncidents', keyOf(current), into, by);
      if (merged.outcome === 'unknown')
        throw new HttpError(404, 'No incident has the digest that it is to be merged into.');
      if (merged.outcome === 'conflict') throw toConflict(merged.incident);
      if (merged.outcome === 'nothing-to-do') throw new HttpError(409, 'Both are one already.');
      return { status: 200, body: await tell({ incident: merged.incident }, context) };
    }),
  });
}

export function separateResource(context: ApiContext): Resource {
  return resource('/incidents/:digest/separate', {
    POST: operation({
      id: 'separateIncident',
      summary: 'Take an incident out of the one that it was merged into',
      about: '`If-Match` is about the incident that it is taken out of: to that one its digest leads until then.',
      params: OfIncident,
      query: InEnvironment,
      headers: IfMatch,
      replies: { 200: { about: 'It stands for itself again.', body: IncidentReply } },
      problems: { 404: UNKNOWN, 409: 'It is merged into nothing.', 412: CONFLICT },
    }).handle(async ({ params, query, headers }, request) => {
      const current = await requireIncident(context, params.digest, query);
      const key = toCallKey(params.digest, current.environment);
      const apart = await context.ask('unmerge', key, toChangeBy(request, headers, current));
      if (apart.outcome === 'unknown') throw new HttpError(404, UNKNOWN);
      if (apart.outcome === 'conflict') throw toConflict(apart.incident);
      if (apart.outcome === 'nothing-to-do') throw new HttpError(409, 'It is merged into nothing.');
      return { status: 200, body: await tell({ incident: apart.incident }, context) };
    }),
  });
}

/** All that is known of it, with the latest of its occurrences. */
async function tell(found: Found, { ask, facts }: ApiContext): Promise<ReturnType<typeof presentIncident>> {
  const shown = await chooseShown({ incident: found.incident }, undefined, ask);
  const { sourceLink, environment } = facts;
  return presentIncident(await readIncident(shown, { ask, sourceLink, environment, now: Date.now() }));
}

function toHeaders(told: ReturnType<typeof presentIncident>, asked: string): Record<string, string> {
  const { digest, environment } = told;
  return {
    ETag: toIncidentTag(told),
    ...(digest !== asked && {
      'Content-Location': `/api/desk/incidents/${digest}?${new URLSearchParams({ environment })}`,
    }),
  };
}

function toChangeBy(request: Request, headers: z.output<typeof IfMatch>, current: Incident): ChangeBy {
  const expected = toExpected(headers['if-match'], current);
  return { author: authorOf(request), ...(expected !== undefined && { expected }) };
}

function toConflict(current: Incident): HttpError {
  return new HttpError(412, `It was changed in the meantime: ${toStandingWords(current)}. Get it again.`);
}

type Patch = z.output<typeof IncidentPatch>;

function toChange({ status, assignee }: Patch): IncidentChange {
  return { ...(status && { to: toState(status) }), ...(assignee !== undefined && { assignee }) };
}

function toState(status: NonNullable<Patch['status']>): NonNullable<IncidentChange['to']> {
  if (status.state !== 'ignored') return status;
  const { state, until, untilMore } = status;
  return { state, ...(until !== undefined && { until }), ...(untilMore !== undefined && { growth: untilMore }) };
}
