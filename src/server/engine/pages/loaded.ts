import type { PageError } from '../../../shared/engine/wire/payload.ts';

/** A `redirect()` of a guard, loader, action or render. */
export interface Redirect {
  readonly kind: 'redirect';
  readonly status: number;
  readonly location: string;
}

/** The result of guards and loaders. */
export type Loaded = Redirect | { readonly kind: 'gone' } | LoadedPage;

export interface LoadedPage {
  readonly kind: 'page';
  readonly status: number;
  /** By route id. Every matched route has a key. */
  readonly data: Record<string, unknown>;
  readonly errors?: Record<string, PageError>;
  /** The combined version of the loaders, from before they ran. */
  readonly version?: string;
}

/** An error in place of a route. The loaders of that route and its children do not run. */
export interface Blocked {
  readonly routeId: string;
  readonly error: PageError;
}
