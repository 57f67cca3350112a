import { ROUTE_SORTS } from '../../../shared/desk/choices.ts';
import type { RoutesData } from '../../../shared/desk/shapes.ts';
import type { LoadingPage } from '../../engine/pages/server-page.ts';
import { readRoutes } from '../views/read-routes.ts';
import type { DeskContext } from './context.ts';
import { readScope } from './read-view.ts';
import { unlessAway } from './unless-away.ts';

export const routes = {
  async loader({ url, context }) {
    const scope = readScope(url);
    const sort = ROUTE_SORTS.find(([name]) => name === url.searchParams.get('sort'))?.[0] ?? 'requests';
    return { sort, scope, ...(await unlessAway(readRoutes(context, scope, sort))) };
  },
} satisfies LoadingPage<'routes', RoutesData, DeskContext>;
