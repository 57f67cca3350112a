import { operation } from '../../../shared/engine/api/operation.ts';
import { type ApiPart, implement } from '../../engine/api/implement.ts';
import { HttpError } from '../../engine/errors/http-error.ts';
import { ORDERS } from '../pages/read-view.ts';
import { presentIncidentRow } from '../views/present-incident-row.ts';
import { type ApiContext, readVersion } from './context.ts';
import { Found, IncidentList } from './replies.ts';
import { FindQuery, ListQuery, toStoreFilter } from './requests.ts';

const NOTHING =
  'Nothing has this digest, address or id. To search for words, use /api/desk/incidents?state=all&search=…';

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
  find: operation({
    method: 'GET',
    path: '/find',
    summary: 'Find an incident by digest, address, request id or trace id',
    query: FindQuery,
    replies: { 200: { about: 'The digest that was found, and its occurrence if there is one.', body: Found } },
    problems: { 404: 'Nothing was found.' },
  }),
};

export function incidentsApi(context: ApiContext): ApiPart {
  const { calls, facts } = context;
  return implement(
    operations,
    {
      listIncidents: {
        version: async () => `${await readVersion(context)} ${await calls.settle()}`,
        async handle({ query }) {
          const { sort, span, limit, after } = query;
          const filter = toStoreFilter(query, { now: Date.now(), environment: facts.environment });
          const [page, totals, environments] = await Promise.all([
            calls.listIncidents({
              ...filter,
              order: ORDERS[sort],
              limit,
              ...(after !== undefined && { cursor: after }),
            }),
            calls.countStates(filter),
            calls.listEnvironments(),
          ]);
          const { open, resolved, ignored } = totals;
          return {
            status: 200,
            body: {
              environment: filter.environment,
              environments,
              incidents: page.incidents.map((incident) => presentIncidentRow(incident, span)),
              totals: { open, resolved, ignored },
              isArriving: !(await calls.settle()),
              ...(page.next !== undefined && { next: page.next }),
            },
          };
        },
      },
      async find({ query }) {
        const found = await calls.resolveQuery(query.text);
        if (!found) throw new HttpError(404, NOTHING);
        return { status: 200, body: found };
      },
    },
    context,
  );
}
