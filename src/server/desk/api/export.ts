import type * as z from 'zod';
import { operation, type Sent } from '../../../shared/engine/api/operation.ts';
import { type ApiPart, implement } from '../../engine/api/implement.ts';
import type { IncidentFilter } from '../store/list-incidents.ts';
import type { Incident } from '../store/records.ts';
import { presentIncident as presentHead } from '../views/present-incident.ts';
import { presentOccurrence as presentForPage } from '../views/present-occurrence.ts';
import { type ApiContext, requireIncident, UNKNOWN } from './context.ts';
import { presentOccurrence } from './present.ts';
import { ExportLine } from './replies.ts';
import { ExportOneQuery, ExportQuery, OfIncident, toStoreFilter } from './requests.ts';

type Line = Sent<z.input<typeof ExportLine>>;
type Depth = z.output<typeof ExportOneQuery>['occurrences'];

/** Rows in memory at a time (counts). A full occurrence can be a hundred times as long as a brief one. */
const INCIDENTS = 50;
const OCCURRENCES = { brief: 500, full: 10 };

const LINES = { 200: { about: 'One line of JSON for each item (NDJSON).', lines: ExportLine } };
const ABOUT =
  'The response is streamed. Each part reflects the moment when it is read, so it can include changes made during the export. The last line has the type `end` and counts the lines sent. If it is missing, the export is incomplete.';

const operations = {
  exportIncidents: operation({
    method: 'GET',
    path: '/export',
    summary: 'Export incidents with their occurrences',
    about: `${ABOUT} The incidents that were first seen most recently are first.`,
    query: ExportQuery,
    replies: LINES,
  }),
  exportIncident: operation({
    method: 'GET',
    path: '/incidents/:digest/export',
    summary: 'Export one incident with its occurrences',
    about: ABOUT,
    params: OfIncident,
    query: ExportOneQuery,
    replies: LINES,
    problems: { 404: UNKNOWN },
  }),
};

export function exportApi(context: ApiContext): ApiPart {
  return implement(
    operations,
    {
      exportIncidents({ query }) {
        const filter = toStoreFilter(query, { now: Date.now(), environment: context.facts.environment });
        const incidents = walkIncidents(filter, context);
        return { status: 200, lines: toLines(incidents, query.occurrences, context) };
      },
      async exportIncident({ params, query }) {
        const incident = await requireIncident(context, params.digest, query);
        return { status: 200, lines: toLines([incident], query.occurrences, context) };
      },
    },
    context,
  );
}

/**
 * Lists incidents by when they were first seen, so that one that happens again during the export keeps its position and
 * none is left out.
 */
async function* walkIncidents(filter: IncidentFilter, { calls }: ApiContext): AsyncGenerator<Incident> {
  let cursor: string | undefined;
  do {
    const page = await calls.listIncidents({
      ...filter,
      order: 'firstSeen',
      limit: INCIDENTS,
      ...(cursor !== undefined && { cursor }),
    });
    yield* page.incidents;
    cursor = page.next;
  } while (cursor !== undefined);
}

async function* toLines(
  found: Iterable<Incident> | AsyncIterable<Incident>,
  depth: Depth,
  context: ApiContext,
): AsyncGenerator<Line> {
  let incidents = 0;
  let occurrences = 0;
  for await (const incident of found) {
    const { firstRelease, lastRelease } = incident;
    incidents += 1;
    yield { type: 'incident', ...presentHead(incident, undefined), firstRelease, lastRelease };
    if (depth === 'none') continue;
    for await (const occurrence of walkOccurrences(incident, depth, context)) {
      occurrences += 1;
      yield occurrence;
    }
  }
  yield { type: 'end', incidents, occurrences };
}

async function* walkOccurrences(
  incident: Incident,
  depth: Exclude<Depth, 'none'>,
  { calls, facts }: ApiContext,
): AsyncGenerator<Line> {
  let cursor: string | undefined;
  do {
    const page = await calls.listOccurrences(incident.key, {
      limit: OCCURRENCES[depth],
      withPayload: depth === 'full',
      ...(cursor !== undefined && { cursor }),
    });
    for (const found of page.occurrences) {
      const presented = presentOccurrence(presentForPage(found, facts.links));
      yield { type: 'occurrence', digest: incident.digest, environment: incident.environment, ...presented };
    }
    cursor = page.next;
  } while (cursor !== undefined);
}
