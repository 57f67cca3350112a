import { createDefinePage, type ProductContext, type ProductParts } from '#engine/server';
import type { routes } from '#product/routes.tsx';
import type { Settings } from './settings.ts';

/** The argument of `createApi`, `steps` and `routes`. */
export type AppParts = ProductParts<Settings>;

/** The `context` of every loader, action and guard. */
export type AppContext = ProductContext<Settings>;

/** Defines the server file of a page or layout. */
export const definePage = createDefinePage<AppContext, typeof routes>();
