import type { ComponentType, ReactNode } from 'react';

/**
 * When a page is rendered: *dynamic* for each request; *static* once, then cached and refreshed in the background;
 * *shell* like a static page, but with holes, the values made by `personal()`, which are rendered for each visitor.
 */
export type RenderMode = 'dynamic' | 'static' | 'shell';

export interface PageModule {
  /** The component takes no props, or the loader's data. */
  readonly default: ComponentType | ((props: never) => ReactNode);
  /** Shown in place of the page when its loader, action or render fails. It reads the error with `usePageError()`. */
  readonly ErrorBoundary?: ComponentType;
}

/**
 * One entry of the route table. A layout nests pages and has no `path`. A page has an absolute, non-empty path. There are
 * no index routes, because a native form that posts to one would get 405.
 */
export interface RouteDefinition {
  readonly id: string;
  readonly path?: `/${string}`;
  /** Must be a plain `() => import('../pages/x/x.tsx')`, because the build reads the path from it. */
  readonly page: () => Promise<PageModule>;
  /** The mode of the innermost route applies to its layouts too. */
  readonly mode?: RenderMode;
  /** For static and shell pages: the search keys that select a variant of the page. All others are dropped. */
  readonly searchKeys?: readonly string[];
  readonly children?: readonly RouteDefinition[];
}

/**
 * An entry as `defineRoutes` accepts it. The page's module is not typed here: pages use `href`, whose type comes from the
 * table, so a table that depended on the types of its pages would be circular. Pages are checked where the table is used
 * as a list of `RouteDefinition`s.
 */
export interface RouteLine extends Omit<RouteDefinition, 'page' | 'children'> {
  readonly page: () => Promise<object>;
  readonly children?: readonly RouteLine[];
}

/** An entry and all entries below it. */
export type LineOf<Line extends RouteLine> = Line extends {
  readonly children: infer Children extends readonly RouteLine[];
}
  ? Line | LineOf<Children[number]>
  : Line;

/** All ids in a table, including layouts. The table of server files must have each of them. */
export type RouteIdOf<Table extends readonly RouteLine[]> = LineOf<Table[number]>['id'];

/** Keeps the literal types of a route table while checking its shape. */
export function defineRoutes<const Table extends readonly RouteLine[]>(table: Table): Table {
  return table;
}

/** Returns the paths of all pages, in the order of the table. */
export function listPatterns(lines: readonly RouteLine[]): string[] {
  return lines.flatMap(({ path, children = [] }) => [...(path === undefined ? [] : [path]), ...listPatterns(children)]);
}
