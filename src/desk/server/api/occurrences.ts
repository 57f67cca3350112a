import * as z from 'zod';
import { operation } from '#engine';
import { type ApiPart, HttpError, implement } from '#engine/server';
import { parseAddress } from '#engine/tracker';
import { OccurrenceSchema } from '../../shared/shapes.ts';
import { defined } from '../defined.ts';
import { presentOccurrence as presentForPage } from '../views/present-occurrence.ts';
import { type ApiContext, requireFound, UNKNOWN } from './context.ts';
import { InEnvironment, OccurrenceQuery, OfIncident, OfOccurrence } from './requests.ts';

const OccurrenceList = z
  .strictObject({
    occurrences: z
      .array(
        OccurrenceSchema.omit({ full: true }).extend({
          isFull: z.boolean().describe('Whether the full data is stored.'),
        }),
      )
      .describe('Newest first.'),
    next: z.string().optional().describe('The `after` of the next page. Absent on the last page.'),
  })
  .meta({ id: 'OccurrenceList' });

const GONE = 'This incident has no such occurrence. It may have been deleted.';

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
  const { calls } = context;
  return implement(
    operations,
    {
      async listOccurrences({ params, query }) {
        const { incident } = await requireFound(context, params.digest, query.environment);
        const { limit, after: cursor } = query;
        const page = await calls.listOccurrences(incident.key, { limit, cursor });
        return {
          status: 200,
          body: defined({
            occurrences: page.occurrences.map((found) => ({
              ...presentForPage(found, {}),
              isFull: found.isFull,
            })),
            next: page.next,
          }),
        };
      },
      async deleteOccurrence({ params, query, caller }) {
        const { incident } = await requireFound(context, params.digest, query.environment);
        const { occurrence } = parseAddress(incident.digest + params.occurrence) ?? {};
        const isGone = occurrence && (await calls.deleteOccurrence(incident.key, occurrence, caller.name));
        if (!isGone) throw new HttpError(404, GONE);
        return { status: 204 };
      },
    },
    context,
  );
}
