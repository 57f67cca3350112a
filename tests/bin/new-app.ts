import { createNew } from '../../bin/new/new.mjs';
import { createEmptyApp } from '../support/guide.ts';
import type { OwnedApp, OwnedAppOptions } from '../support/owned-app.ts';

const PAGE = 'src/shared/product/pages/order/order.tsx';
export const HALF = 'src/server/product/pages/order.ts';
export const OPERATIONS = 'src/shared/product/api/gauges.ts';
const STORE = 'src/server/product/api/gauges/store.ts';

/** Creates an empty app with three pages and a resource written by `npm run new`. */
export function createNewApp(options?: OwnedAppOptions): OwnedApp {
  const app = createEmptyApp(options);
  for (const words of ['page /orders/:id', 'page /about', 'page /terms --static --no-data', 'api gauges']) {
    createNew(words.split(' '), { root: app.folder, log: () => undefined });
  }
  return app;
}

/** Makes the first changes that you would make: a page's data and heading, and the ids of a resource. */
export function changeFirstThings(app: OwnedApp): OwnedApp {
  app.replace(PAGE, '<h1>Order {data.id}</h1>', '<h1 className="wide">{data.total} in all</h1>');
  app.replace(PAGE, 'data.id', 'data.total');
  app.replace(HALF, '({ params }) => ({ id: params.id })', 'async () => ({ total: 3 })');
  app.replace(OPERATIONS, 'id: z.int(),', 'id: z.string(),');
  app.replace(STORE, 'id: lastId,', "id: 'gauge-' + lastId,");
  return app;
}
