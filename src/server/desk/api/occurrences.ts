import { operation } from '../../../shared/engine/api/operation.ts';
import { type ApiPart, implement } from '../../engine/api/implement.ts';
import { HttpError } from '../../engine/errors/http-error.ts';
import { QueryFailedError } from '../store/sql.ts';
import { presentOccurrence as presentForPage } from '../views/present-occurrence.ts';
import { type ApiContext, readVersion, requireFound, requireIncident, UNKNOWN } from './context.ts';
import { presentOccurrence } from './present.ts';
import { FoundOccurrence, OccurrenceList } from './replies.ts';
import { InEnvironment, OccurrenceQuery, OfIncident, OfOccurrence } from './requests.ts';

const GONE = 'This incident has no such occurrence. It may have been deleted.';
const SAMPLED = 'This occurrence is not kept. It may have been sampled out, because many happened at the same time.';

const operations = {
  listOccurrences: operation({
    method: 'GET',
    path: '/incidents/:digest/occurrences',
    summary: 'List occurrences of an incident',
    params: OfIncident,
    query: OccurrenceQuery,
    replies: { 200: { about: 'A page of the list.', body: OccurrenceList } },
    problems: { 404: UNKNOWN },
  }),
  getOccurrence: operation({
    method: 'GET',
    path: '/incidents/:digest/occurrences/:occurrence',
    summary: 'Get an occurrence',
    params: OfOccurrence,
    query: InEnvironment,
    replies: { 200: { about: 'The occurrence.', body: FoundOccurrence } },
    problems: { 404: GONE },
  }),
  deleteOccurrence: operation({
    method: 'DELETE',
    path: '/incidents/:digest/occurrences/:occurrence',
    summary: 'Delete an occurrence',
    about: 'The counts do not change.',
    params: OfOccurrence,
    query: InEnvironment,
    replies: { 204: { about: 'The occurrence was deleted.' } },
    problems: { 404: GONE },
  }),
};

export function occurrencesApi(context: ApiContext): ApiPart {
  const { calls, facts } = context;
  return implement(
    operations,
    {
      listOccurrences: {
        version: () => readVersion(context),
        async handle({ params, query }) {
          const incident = await requireIncident(context, params.digest, query);
          const { limit, after: cursor } = query;
          const page = await calls.listOccurrences(incident.key, {
            limit,
            ...(cursor !== undefined && { cursor }),
          });
          return {
            status: 200,
            body: {
              occurrences: page.occurrences.map((found) => ({
                ...presentForPage(found, {}),
                isFull: found.isFull,
              })),
              ...(page.next !== undefined && { next: page.next }),
            },
          };
        },
      },
      async getOccurrence({ params, query }) {
        const found = await requireFound(context, `${params.digest}-${params.occurrence}`, query.environment);
        if (found.state === 'arriving') throw new QueryFailedError('arriving', params.occurrence);
        if (!found.occurrence) throw new HttpError(404, found.state === 'sampled' ? SAMPLED : GONE);
        const { digest, environment } = found.incident;
        const { newer, older } = await calls.findNeighbours(found.incident.key, found.occurrence.occurrence);
        return {
          status: 200,
          body: {
            digest,
            environment,
            ...presentOccurrence(presentForPage(found.occurrence, facts.links)),
            ...(newer && { newer: newer.occurrence }),
            ...(older && { older: older.occurrence }),
          },
        };
      },
      async deleteOccurrence({ params: { digest, occurrence }, query, caller }) {
        const incident = await requireIncident(context, digest, query);
        const isGone = await calls.deleteOccurrence(incident.key, occurrence, caller.name);
        if (!isGone) throw new HttpError(404, GONE);
        return { status: 204 };
      },
    },
    context,
  );
}
