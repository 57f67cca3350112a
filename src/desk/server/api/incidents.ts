import * as z from 'zod';
import { operation } from '#engine';
import { type ApiPart, implement } from '#engine/server';
import { Hour } from '../../../shared/units.ts';
import { USUAL_VIEW } from '../../shared/href.ts';
import { IncidentRowSchema } from '../../shared/shapes.ts';
import { defined } from '../defined.ts';
import { toFilter } from '../read-view.ts';
import { presentIncidentRow } from '../views/present-incident-row.ts';
import type { ApiContext } from './context.ts';
import { ListQuery } from './requests.ts';

const IncidentList = z
  .strictObject({
    environment: z.string().describe('The environment of these incidents.'),
    environments: z.array(z.string()).describe('All environments that use this desk.'),
    incidents: z.array(IncidentRowSchema),
    totals: z
      .strictObject({ open: z.int(), resolved: z.int(), ignored: z.int() })
      .describe('The number of incidents in each state that match the other filters.'),
    next: z.string().optional().describe('The `after` of the next page. Absent on the last page.'),
  })
  .meta({ id: 'IncidentList' });

const operations = {
  listIncidents: operation({
    method: 'GET',
    path: '/incidents',
    summary: 'List incidents',
    about:
      'An incident must match all filters. An incident that happens again while you read the pages moves to the top.',
    query: ListQuery,
    replies: { 200: { about: 'A page of the list.', body: IncidentList } },
  }),
};

export function incidentsApi(context: ApiContext): ApiPart {
  const { calls, facts } = context;
  return implement(
    operations,
    {
      listIncidents: {
        // Charts and time filters move on each hour.
        version: async () => [await calls.readChanges(), Math.floor(Date.now() / Hour), facts.release].join(' '),
        async handle({ query }) {
          const { limit, after } = query;
          const filter = toFilter({ ...USUAL_VIEW, ...query }, { now: Date.now(), environment: facts.environment });
          const [page, totals, environments] = await Promise.all([
            calls.listIncidents({ ...filter, limit, cursor: after }),
            calls.countStates(filter),
            calls.listEnvironments(),
          ]);
          return {
            status: 200,
            body: defined({
              environment: filter.environment,
              environments,
              incidents: page.incidents.map(presentIncidentRow),
              totals,
              next: page.next,
            }),
          };
        },
      },
    },
    context,
  );
}
