import type * as z from 'zod';
import { operation } from '../../../shared/engine/api/operation.ts';
import { type ApiPart, implement } from '../../engine/api/implement.ts';
import { HttpError } from '../../engine/errors/http-error.ts';
import { chooseShown } from '../pages/find-shown.ts';
import { keyOf, toCallKey } from '../store/incident-key.ts';
import type { ChangeBy, IncidentChange } from '../store/incidents/change-incident.ts';
import type { Found, Incident } from '../store/records.ts';
import { presentStatus } from '../views/present-status.ts';
import { NO_TEST } from '../views/present-test.ts';
import { readIncident } from '../views/read-incident.ts';
import { toStandingWords } from '../views/standing-words.ts';
import type { DeskCaller } from './caller.ts';
import { type ApiContext, requireFound, requireIncident, UNKNOWN } from './context.ts';
import { toExpected, toIncidentTag } from './incident-tag.ts';
import { presentIncident } from './present.ts';
import { ChangedIncident, Incident as IncidentReply, Test } from './replies.ts';
import { IfMatch, IncidentPatch, InEnvironment, Merge, OfIncident, OfTest } from './requests.ts';

const CONFLICT = 'The incident has changed since the `ETag` in `If-Match`.';
const TAGGED = {
  'Content-Location': 'The URL of the incident, if the requested digest was merged into another one.',
};

const SAME = 'Both are the same incident already.';
const NOT_MERGED = 'The incident is not merged into another one.';

const operations = {
  getIncident: operation({
    method: 'GET',
    path: '/incidents/:digest',
    summary: 'Get an incident with its details',
    about: 'Everything that its page shows. A merged digest returns the incident that it was merged into.',
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
    summary: 'Change the state or the assignee of an incident',
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
    summary: 'Delete an incident and everything merged into it',
    about: 'Its counts are deleted too. If the failure happens again, it is a new incident.',
    params: OfIncident,
    query: InEnvironment,
    headers: IfMatch,
    replies: { 204: { about: 'The incident was deleted.' } },
    problems: { 404: UNKNOWN, 412: CONFLICT },
  }),
  mergeIncident: operation({
    method: 'POST',
    path: '/incidents/:digest/merge',
    summary: 'Merge an incident into another one',
    params: OfIncident,
    query: InEnvironment,
    headers: IfMatch,
    body: Merge,
    replies: { 200: { about: 'The incident that it was merged into.', body: IncidentReply } },
    problems: { 404: UNKNOWN, 409: SAME, 412: CONFLICT },
  }),
  separateIncident: operation({
    method: 'POST',
    path: '/incidents/:digest/separate',
    summary: 'Unmerge an incident',
    about: '`If-Match` applies to the incident that it is unmerged from, because the digest still leads to that one.',
    params: OfIncident,
    query: InEnvironment,
    headers: IfMatch,
    replies: { 200: { about: 'The incident, which is separate again.', body: IncidentReply } },
    problems: { 404: UNKNOWN, 409: NOT_MERGED, 412: CONFLICT },
  }),
};

export function incidentApi(context: ApiContext): ApiPart {
  const { ask } = context;
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
        if (!latest?.whole?.test) throw new HttpError(404, NO_TEST);
        return { status: 200, body: latest.whole.test };
      },
      async changeIncident({ params, query, headers, body, caller }) {
        const current = await requireIncident(context, params.digest, query);
        const by = toChangeBy(caller, headers, current);
        const changed = await ask('changeIncident', keyOf(current), toChange(body), by);
        if (changed.outcome === 'unknown') throw new HttpError(404, UNKNOWN);
        if (changed.outcome === 'conflict') throw toConflict(changed.incident);
        const { before, after } = changed;
        const incident = await present({ incident: after }, context);
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
      },
      async deleteIncident({ params, query, headers, caller }) {
        const current = await requireIncident(context, params.digest, query);
        const gone = await ask('deleteIncident', keyOf(current), toChangeBy(caller, headers, current));
        if (gone.outcome === 'unknown') throw new HttpError(404, UNKNOWN);
        if (gone.outcome === 'conflict') throw toConflict(gone.incident);
        return { status: 204 };
      },
      async mergeIncident({ params, query, headers, body, caller }) {
        const current = await requireIncident(context, params.digest, query);
        const into = toCallKey(body.into, current.environment);
        const merged = await ask('mergeIncidents', keyOf(current), into, toChangeBy(caller, headers, current));
        if (merged.outcome === 'unknown') throw new HttpError(404, 'No incident has the digest in "into".');
        if (merged.outcome === 'conflict') throw toConflict(merged.incident);
        if (merged.outcome === 'nothing-to-do') throw new HttpError(409, SAME);
        return { status: 200, body: await present({ incident: merged.incident }, context) };
      },
      async separateIncident({ params, query, headers, caller }) {
        const current = await requireIncident(context, params.digest, query);
        const key = toCallKey(params.digest, current.environment);
        const apart = await ask('unmerge', key, toChangeBy(caller, headers, current));
        if (apart.outcome === 'unknown') throw new HttpError(404, UNKNOWN);
        if (apart.outcome === 'conflict') throw toConflict(apart.incident);
        if (apart.outcome === 'nothing-to-do') throw new HttpError(409, NOT_MERGED);
        return { status: 200, body: await present({ incident: apart.incident }, context) };
      },
    },
    context,
  );
}

type Context = Pick<ApiContext, 'ask' | 'facts'>;

/** Returns everything about an incident, with its latest occurrence. */
function present({ incident }: Found, context: Context): Promise<ReturnType<typeof presentIncident>> {
  return presentShown({ incident }, undefined, context);
}

/**
 * Returns everything about the incident of an address, with the occurrence that it names as the latest one.
 *
 * @throws HttpError 404
 */
export async function presentAddress(
  address: string,
  context: Context,
  environment?: string,
): Promise<ReturnType<typeof presentIncident>> {
  const found = await requireFound(context, address, environment);
  return presentShown(found, found.occurrence?.occurrence, context);
}

async function presentShown(found: Found, occurrence: string | undefined, { ask, facts }: Context) {
  const shown = await chooseShown(found, occurrence, ask);
  const { links, environment } = facts;
  return presentIncident(await readIncident(shown, { ask, links, environment, now: Date.now() }));
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

function toChange({ status, assignee }: Patch): IncidentChange {
  return { ...(status && { to: toState(status) }), ...(assignee !== undefined && { assignee }) };
}

function toState(status: NonNullable<Patch['status']>): NonNullable<IncidentChange['to']> {
  if (status.state !== 'ignored') return status;
  const { state, until, untilMore } = status;
  return { state, ...(until !== undefined && { until }), ...(untilMore !== undefined && { growth: untilMore }) };
}
