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
      about: 'What is set must all hold. New incidents move nothing from one page to another.',
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
  const nothing = 'Nothing has this digest, address or id. Search for it: /api/desk/incidents?state=all&search=…';
  return resource('/find', {
    GET: operation({
      id: 'find',
      summary: 'Find what a digest, an address, or the id of a request or a trace leads to',
      query: FindQuery,
      replies: { 200: { about: 'What it leads to.', body: Found } },
      problems: { 404: 'It leads to nothing.' },
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
      replies: { 200: { about: 'Those that were started, as long as they are remembered.', body: BuildList } },
    }).handle(async () => {
      const builds = await context.ask('listBuilds');
      return {
        status: 200,
        body: { builds: builds.map(({ id, release, firstAt }) => ({ build: id, release, firstAt })) },
      };
    }),
  });
}
