import { operation } from '../../../shared/engine/api/operation.ts';
import { type ApiPart, implement } from '../../engine/api/implement.ts';
import { readRoutes } from '../views/read-routes.ts';
import type { ApiContext } from './context.ts';
import { RouteList } from './replies.ts';
import { RoutesQuery } from './requests.ts';

const operations = {
  listRoutes: operation({
    method: 'GET',
    path: '/routes',
    summary: 'List routes with their requests, errors and durations',
    query: RoutesQuery,
    replies: { 200: { about: 'The routes that were requested in the last 24 hours.', body: RouteList } },
  }),
};

export function routesApi(context: ApiContext): ApiPart {
  return implement(
    operations,
    {
      async listRoutes({ query: { environment = '', sort } }) {
        return { status: 200, body: await readRoutes(context, environment, sort) };
      },
    },
    context,
  );
}
