import { createDefinePage, type ProductContext, type ProductParts } from '#engine/server';
import type { routes } from '#product/routes.tsx';
import type { Services } from './services.ts';
import type { Settings } from './settings.ts';

/** The argument of `createApi`, `steps` and `routes`. */
export type AppParts = ProductParts<Settings, Services>;

/** The `context` of every loader, action and guard. */
export type AppContext = ProductContext<Settings, Services>;

/** Defines the server file of a page or layout. */
export const definePage = createDefinePage<AppContext, typeof routes>();
