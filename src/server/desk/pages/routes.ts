import { ROUTE_SORTS } from '../../../shared/desk/choices.ts';
import type { RoutesData } from '../../../shared/desk/shapes.ts';
import type { LoadingPage } from '../../engine/pages/server-page.ts';
import { presentRoutes } from '../views/present-routes.ts';
import type { DeskContext } from './context.ts';
import { readScope } from './read-view.ts';
import { unlessAway } from './unless-away.ts';

export const routes = {
  loader: ({ url, context }) => unlessAway(load(url, context)),
} satisfies LoadingPage<'routes', RoutesData, DeskContext>;

async function load(url: URL, { ask, facts }: DeskContext): Promise<RoutesData> {
  const scope = readScope(url);
  const sort = ROUTE_SORTS.find(([name]) => name === url.searchParams.get('sort'))?.[0] ?? 'requests';
  await facts.flushRoutes();
  const stats = await ask('readRoutes', scope || facts.environment);
  return { now: Date.now(), sort, scope, ...presentRoutes(stats, sort, facts.links) };
}
