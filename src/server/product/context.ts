import type { ProductContext, ProductParts } from '#engine/server';
import type { Services } from './services.ts';
import type { Settings } from './settings.ts';

/** What the API, steps and routes are made with. */
export type AppParts = ProductParts<Settings, Services>;

/** What every loader, action and guard gets as `context`. */
export type AppContext = ProductContext<Settings, Services>;
