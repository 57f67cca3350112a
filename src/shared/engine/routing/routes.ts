import type { ComponentType, ReactNode } from 'react';

/**
 * How a page is rendered: *dynamic* for each request; *static* once, kept in memory and refreshed
 * behind the visitor.
 */
export type RenderMode = 'dynamic' | 'static';

/**
 * What a page or layout is given: `function Order({ data }: PageProps<OrderData>)`. Its loader has to
 * return that, or `src/server/product/pages/index.ts` does not compile.
 */
export interface PageProps<Data> {
  /** What the route's own loader returned. */
  readonly data: Data;
}

export interface PageModule {
  /** The component takes nothing, or the data that its loader returns. */
  readonly default: ComponentType | ((props: PageProps<never>) => ReactNode);
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
  /** Must be a plain `() => import('../pages/x/x.tsx')`: the build reads the path from it. */
  readonly page: () => Promise<PageModule>;
  /** The leaf's mode covers its branch. */
  readonly mode?: RenderMode;
  /** For static pages: the search keys that are part of the page's identity. All others are dropped. */
  readonly searchKeys?: readonly string[];
  readonly children?: readonly RouteDefinition[];
}

/**
 * A line as `defineRoutes` takes it: of its page no more is asked than that there is a module. A page
 * may use what is made of the table's type (`href`), which could not be told if telling it took the
 * types of all pages. Where the table is used, it is a list of `RouteDefinition`s, and pages are checked.
 */
export interface RouteLine extends Omit<RouteDefinition, 'page' | 'children'> {
  readonly page: () => Promise<object>;
  readonly children?: readonly RouteLine[];
}

/** A line of a table and all lines below it. */
export type LineOf<Line extends RouteLine> = Line extends {
  readonly children: infer Children extends readonly RouteLine[];
}
  ? Line | LineOf<Children[number]>
  : Line;

/** Every id in a table, layouts included: what the table of server halves must cover. */
export type RouteIdOf<Table extends readonly RouteLine[]> = LineOf<Table[number]>['id'];

/** Keeps the literal types of a route table while checking its shape. */
export function defineRoutes<const Table extends readonly RouteLine[]>(table: Table): Table {
  return table;
}

/** Of all pages, in the order of the table. */
export function listPatterns(lines: readonly RouteLine[]): string[] {
  return lines.flatMap(({ path, children = [] }) => [...(path === undefined ? [] : [path]), ...listPatterns(children)]);
}
