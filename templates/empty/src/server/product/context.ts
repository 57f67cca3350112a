import type { ProductContext, ProductParts } from '#engine/server';
import type { Settings } from './settings.ts';

/** The argument of `createApi`, `steps` and `routes`. */
export type AppParts = ProductParts<Settings>;

/** The `context` of every loader, action and guard. */
export type AppContext = ProductContext<Settings>;
