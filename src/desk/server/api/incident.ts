import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import * as z from 'zod';
import { operation } from '#engine';
import { type ApiPart, HttpError, implement } from '#engine/server';
import { parseAddress } from '#engine/tracker';
import { DESK_API_PATH } from '../../shared/href.ts';
import { Change, IncidentSchema, type IncidentShape, Status } from '../../shared/shapes.ts';
import type { ChangeBy } from '../store/change-incident.ts';
import type { FoundIncident, Incident } from '../store/records.ts';
import { QueryFailedError } from '../store/sql.ts';
import { toIncidentMarkdown } from '../views/incident-markdown.ts';
import { presentNote, toStandingWords } from '../views/present-history.ts';
import { presentIncident } from '../views/present-incident.ts';
import { presentStatus } from '../views/present-incident-row.ts';
import type { DeskCaller } from './caller.ts';
import { type ApiContext, requireFound, UNKNOWN } from './context.ts';
import { IfMatch, IncidentPatch, InEnvironment, NewNote, OfIncident } from './requests.ts';

const CONFLICT = 'The incident has changed since the `ETag` in `If-Match`.';
const TAGGED = {
  'Content-Location': 'The URL of the incident, if the failure has another digest now.',
};

const ChangedIncident = z
  .strictObject({
    incident: IncidentSchema,
    replaced: z
      .strictObject({ status: Status, version: z.string() })
      .describe('The state before the change. Without `If-Match`, this is what the change overwrote.'),
  })
  .meta({ id: 'ChangedIncident' });

const operations = {
  getIncident: operation({
    method: 'GET',
    path: '/incidents/:digest',
    summary: 'Get an incident with its details',
    about:
      'Everything that its page shows: with an address, of that occurrence. With `Accept: text/markdown`, the response is Markdown.',
    params: OfIncident,
    query: InEnvironment,
    replies: { 200: { about: 'The incident.', body: IncidentSchema, headers: TAGGED } },
    problems: { 404: UNKNOWN },
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
  addNote: operation({
    method: 'POST',
    path: '/incidents/:digest/notes',
    summary: 'Add a note to an incident',
    about: 'The token’s name is its author. Notes do not count as a change for `If-Match`.',
    params: OfIncident,
    query: InEnvironment,
    body: NewNote,
    replies: { 201: { about: 'The note, as `changes` of the incident has it.', body: Change } },
    problems: { 404: UNKNOWN },
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
        const incident = await readFound(found, params.digest, context);
        return { status: 200, body: incident, headers: toHeaders(incident, params.digest) };
      },
      async changeIncident({ params, query, headers, body, caller }) {
        const { incident: current } = await requireFound(context, params.digest, query.environment);
        const by = toChangeBy(caller, headers);
        const changed = await calls.changeState(current.key, body.status, by);
        if (changed.outcome === 'unknown') throw new HttpError(404, UNKNOWN);
        if (changed.outcome === 'conflict') throw toConflict(changed.incident);
        const { before, after } = changed;
        const incident = await readFound({ incident: after }, after.digest, context);
        return {
          status: 200,
          body: {
            incident,
            replaced: { status: presentStatus(before), version: String(before.version) },
          },
          headers: toHeaders(incident, params.digest),
        };
      },
      async addNote({ params, query, body, caller }) {
        const { incident } = await requireFound(context, params.digest, query.environment);
        const note = await calls.addNote(incident.key, body.text, caller.name);
        if (!note) throw new HttpError(404, UNKNOWN);
        return { status: 201, body: presentNote(note) };
      },
      async deleteIncident({ params, query, headers, caller }) {
        const { incident } = await requireFound(context, params.digest, query.environment);
        const gone = await calls.deleteIncident(incident.key, toChangeBy(caller, headers));
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
    const asked = String(req.params.digest);
    const { environment } = req.query;
    const found = await requireFound(context, asked, typeof environment === 'string' ? environment : undefined);
    res.type('text/markdown').send(toIncidentMarkdown(await readFound(found, asked, context), Date.now()));
  };
}

type Context = Pick<ApiContext, 'calls' | 'facts'>;

/**
 * Returns everything about an incident, with the occurrence of the address, or the latest one that is stored in full.
 *
 * @param asked the digest or address that it was found by
 * @throws QueryFailedError if the occurrence may not be stored yet
 */
async function readFound(found: FoundIncident, asked: string, { calls, facts }: Context) {
  if (found.state === 'arriving') throw new QueryFailedError('arriving', found.incident.digest);
  const occurrence = found.occurrence?.occurrence ?? parseAddress(asked)?.occurrence;
  const details = await calls.readDetails(found.incident.key, occurrence);
  return presentIncident(found, details, facts, Date.now());
}

function toHeaders(incident: IncidentShape, asked: string): Record<string, string> {
  const { digest, environment } = incident;
  return {
    ETag: toIncidentTag(incident),
    ...(parseAddress(asked)?.digest !== digest && {
      'Content-Location': `${DESK_API_PATH}/incidents/${digest}?${new URLSearchParams({ environment })}`,
    }),
  };
}

/**
 * Returns the `ETag` of an incident: the version that changes are checked against, and a hash of everything in the
 * reply. A reader thus sees each new occurrence, but only another change makes a change fail.
 */
function toIncidentTag(presented: IncidentShape): string {
  const hash = createHash('sha256').update(JSON.stringify(presented)).digest('base64url').slice(0, 16);
  return `"${presented.version}.${hash}"`;
}

/** A version that no incident has. */
const NO_VERSION = -1;

/**
 * The version that `If-Match` asks for; undefined if any version is accepted. The tag can be weak, because a proxy that
 * compresses the reply makes it so.
 */
function toExpected(ifMatch: string | undefined): number | undefined {
  if (ifMatch === undefined || ifMatch === '*') return undefined;
  return Number(/^(?:W\/)?"(\d{1,15})\./.exec(ifMatch)?.[1] ?? NO_VERSION);
}

function toChangeBy({ name }: DeskCaller, headers: z.output<typeof IfMatch>): ChangeBy {
  return { author: name, expected: toExpected(headers['if-match']) };
}

function toConflict(current: Incident): HttpError {
  return new HttpError(
    412,
    `The incident was changed in the meantime: ${toStandingWords(current)}. Get it again, then repeat the change.`,
  );
}
