import { type ReactNode, useContext, useLayoutEffect } from 'react';
import {
  type DataRouteObject,
  Outlet,
  UNSAFE_DataRouterStateContext as StateContext,
  useRouteError,
} from 'react-router';
import { useEngine } from './engine-context.ts';
import { ErrorView } from './error-view.tsx';
import { FRAME_ROUTE, NOT_FOUND_ROUTE } from './protocol.ts';
import type { RouteDefinition } from './routes.ts';

/** The route table as React Router knows it, the same on both sides. */
export interface RouteTree {
  readonly objects: DataRouteObject[];
  readonly byId: Readonly<Record<string, DataRouteObject>>;
  readonly definitions: ReadonlyMap<string, RouteDefinition>;
  /** The ids from the frame down to a route. */
  readonly branchOf: (id: string) => readonly string[];
}

/**
 * Puts the engine's frame around the table and a route for what is not found below the first
 * layout, so that an unknown address keeps the site's look.
 */
export function createRouteTree(table: readonly RouteDefinition[]): RouteTree {
  const byId: Record<string, DataRouteObject> = Object.create(null) as Record<string, DataRouteObject>;
  const parents = new Map<string, string>();
  const definitions = new Map<string, RouteDefinition>();

  function register(object: DataRouteObject, parent: string | undefined): DataRouteObject {
    if (byId[object.id])
      throw new Error(`Two routes have the id "${object.id}". Give each route of the table an id of its own.`);
    byId[object.id] = object;
    if (parent !== undefined) parents.set(object.id, parent);
    return object;
  }

  function toObject(definition: RouteDefinition, parent: string): DataRouteObject {
    const { id, path, children } = definition;
    definitions.set(id, definition);
    const object = register({ id, ...(path ? { path } : {}), ...createView(id) }, parent);
    if (children) object.children = children.map((child) => toObject(child, id));
    return object;
  }

  const frame = register({ id: FRAME_ROUTE, ...SHARED, Component: Frame, errorElement: <RouteErrorView /> }, undefined);
  frame.children = table.map((definition) => toObject(definition, FRAME_ROUTE));

  const home = frame.children.find((route) => !route.path) ?? frame;
  home.children ??= [];
  home.children.push(
    register(
      { id: NOT_FOUND_ROUTE, path: '*', ...SHARED, Component: NoPage, errorElement: <RouteErrorView /> },
      home.id,
    ),
  );

  function branchOf(id: string): string[] {
    const parent = parents.get(id);
    return parent === undefined ? [id] : [...branchOf(parent), id];
  }
  return { objects: [frame], byId, definitions, branchOf };
}

/** `loader` and `action` are marks alone: both sides bring the data by ways of their own. */
const SHARED = { loader: true, action: true, caseSensitive: true } as const;

/** Never shown: this route always has an error. React Router wants each leaf to have something. */
function NoPage(): ReactNode {
  return null;
}

function createView(
  id: string,
): Pick<DataRouteObject, 'Component' | 'errorElement' | 'loader' | 'action' | 'caseSensitive'> {
  function RouteView(): ReactNode {
    const { modules, styles, onRoute } = useEngine();
    onRoute?.(id);
    const Page = modules.get(id)?.default;
    if (!Page) throw new Error(`The module of route "${id}" was not loaded before it was rendered.`);
    return (
      <>
        <RouteStyles hrefs={styles.get(id)} />
        <Page />
      </>
    );
  }
  return { ...SHARED, Component: RouteView, errorElement: <RouteErrorView id={id} /> };
}

/** With a precedence React holds the page back until the sheet is there: no flash of unstyled content. */
function RouteStyles({ hrefs }: { hrefs: readonly string[] | undefined }): ReactNode {
  return hrefs?.map((href) => <link key={href} rel="stylesheet" href={href} precedence="page" />);
}

function RouteErrorView({ id }: { id?: string }): ReactNode {
  const { modules, styles, toPageError } = useEngine();
  const error = useRouteError();
  const OwnBoundary = id === undefined ? undefined : modules.get(id)?.ErrorBoundary;
  return (
    <>
      <RouteStyles hrefs={id === undefined ? undefined : styles.get(id)} />
      {OwnBoundary ? <OwnBoundary /> : <ErrorView error={toPageError(error)} />}
    </>
  );
}

function Frame(): ReactNode {
  const { onCommit } = useEngine();
  const state = useContext(StateContext);
  const location = state?.location;
  // Scroll position and reset belong to the same commit as the location: they change together.
  useLayoutEffect(() => {
    if (state) onCommit?.(state);
  }, [location]);
  return <Outlet />;
}
