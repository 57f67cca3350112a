import { operation } from '../../engine/api/operation.ts';
import { type Resource, resource } from '../../engine/api/resource.ts';
import { HttpError } from '../../engine/errors/http-error.ts';
import { ORDERS } from '../pages/read-view.ts';
import { presentIncidentRow } from '../views/present-incident-row.ts';
import { type ApiContext, readVersion } from './context.ts';
import { BuildList, Found, IncidentList } from './replies.ts';
import { FindQuery, ListQuery, toStoreFilter } from './requests.ts';

export function incidentsResource(context: ApiContext): Resource {
  const { ask } = context;
  return resource('/incidents', {
    GET: operation({
      id: 'listIncidents',
      summary: 'List incidents',
      about: 'An incident must match all filters. New incidents do not shift the pages.',
      query: ListQuery,
      replies: { 200: { about: 'A page of the list.', body: IncidentList } },
    }).handle(
      async ({ query }) => {
        const { sort, span, limit, after } = query;
        const filter = toStoreFilter(query, { now: Date.now(), environment: context.facts.environment });
        const [page, totals, environments] = await Promise.all([
          ask('listIncidents', {
            ...filter,
            order: ORDERS[sort],
            limit,
            ...(after !== undefined && { cursor: after }),
          }),
          ask('countStates', filter),
          ask('listEnvironments'),
        ]);
        const { open, resolved, ignored } = totals;
        return {
          status: 200,
          body: {
            environment: filter.environment,
            environments,
            incidents: page.incidents.map((incident) => presentIncidentRow(incident, span)),
            totals: { open, resolved, ignored },
            arriving: context.arriving(),
            ...(page.next !== undefined && { next: page.next }),
          },
        };
      },
      { version: async () => `${await readVersion(context)} ${JSON.stringify(context.arriving())}` },
    ),
  });
}

export function findResource({ ask }: ApiContext): Resource {
  const nothing =
    'Nothing has this digest, address or id. To search for words, use /api/desk/incidents?state=all&search=…';
  return resource('/find', {
    GET: operation({
      id: 'find',
      summary: 'Find an incident by digest, address, request id or trace id',
      query: FindQuery,
      replies: { 200: { about: 'The digest that was found, and its occurrence if there is one.', body: Found } },
      problems: { 404: 'Nothing was found.' },
    }).handle(async ({ query }) => {
      const found = await ask('resolveQuery', query.text);
      if (!found) throw new HttpError(404, nothing);
      return { status: 200, body: found };
    }),
  });
}

export function buildsResource(context: ApiContext): Resource {
  return resource('/builds', {
    GET: operation({
      id: 'listBuilds',
      summary: 'List builds and their releases',
      replies: { 200: { about: 'The builds that were started and are still recorded.', body: BuildList } },
    }).handle(async () => {
      const builds = await context.ask('listBuilds');
      return {
        status: 200,
        body: { builds: builds.map(({ id, release, firstAt }) => ({ build: id, release, firstAt })) },
      };
    }),
  });
}
