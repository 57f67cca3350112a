import type { ComponentType } from 'react';

/**
 * How a page is rendered: *dynamic* for each request; *static* once, kept in memory and refreshed
 * behind the visitor.
 */
export type RenderMode = 'dynamic' | 'static';

export interface PageModule {
  readonly default: ComponentType;
  /** Shown in the page's place when its loader, action or render fails; `usePageError()` says why. */
  readonly ErrorBoundary?: ComponentType;
}

/**
 * One line of the route table. A layout without `path` nests pages; a page has an absolute,
 * non-empty path; there are no index routes (a native form that posts to one is answered 405).
 */
export interface RouteDefinition {
  readonly id: string;
  readonly path?: `/${string}`;
  /** Must be a plain `() => import('./pages/x/x.tsx')`: the build reads the path from it. */
  readonly page: () => Promise<PageModule>;
  /** The leaf's mode covers its branch. */
  readonly mode?: RenderMode;
  /** For static pages: the search keys that are part of the page's identity. All others are dropped. */
  readonly searchKeys?: readonly string[];
  readonly children?: readonly RouteDefinition[];
}

/** Every id in a table, layouts included: what the table of server halves must cover. */
export type RouteIdOf<Table extends readonly RouteDefinition[]> = Table[number] extends infer Route
  ? Route extends {
      readonly id: infer Id extends string;
      readonly children: infer Children extends readonly RouteDefinition[];
    }
    ? Id | RouteIdOf<Children>
    : Route extends { readonly id: infer Id extends string }
      ? Id
      : never
  : never;

/** Keeps the literal types of a route table while checking its shape. */
export function defineRoutes<const Table extends readonly RouteDefinition[]>(table: Table): Table {
  return table;
}
