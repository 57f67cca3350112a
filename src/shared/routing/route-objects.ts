import type { DataRouteObject } from 'react-router';
import { FRAME_ROUTE, NOT_FOUND_ROUTE } from '../wire/protocol.ts';
import type { RouteDefinition } from './routes.ts';

/** The route table as React Router's objects, the same on both sides. */
export interface RouteTree {
  readonly objects: DataRouteObject[];
  readonly byId: Readonly<Record<string, DataRouteObject>>;
  readonly definitions: ReadonlyMap<string, RouteDefinition>;
  /** Ids from the frame down to the route. */
  readonly branchOf: (id: string) => readonly string[];
}

/**
 * Puts the engine's frame around the table, and adds a not-found route below the first layout, so that an unknown URL
 * has the site's look.
 */
export function createRouteTree(table: readonly RouteDefinition[]): RouteTree {
  const byId: Record<string, DataRouteObject> = Object.create(null) as Record<string, DataRouteObject>;
  const branches = new Map<string, readonly string[]>();
  const definitions = new Map<string, RouteDefinition>();

  const branchOf = (id: string | undefined): readonly string[] => branches.get(id ?? '') ?? [];

  function register(object: DataRouteObject, parent?: string): DataRouteObject {
    if (byId[object.id])
      throw new Error(`Two routes have the id "${object.id}". Give each route of the table an id of its own.`);
    byId[object.id] = object;
    branches.set(object.id, [...branchOf(parent), object.id]);
    return object;
  }

  function toObject(definition: RouteDefinition, parent: string): DataRouteObject {
    const { id, path, children } = definition;
    definitions.set(id, definition);
    const object = register({ id, ...(path ? { path } : {}), ...SHARED }, parent);
    if (children) object.children = children.map((child) => toObject(child, id));
    return object;
  }

  const frame = register({ id: FRAME_ROUTE, ...SHARED });
  frame.children = table.map((definition) => toObject(definition, FRAME_ROUTE));

  const home = frame.children.find((route) => !route.path) ?? frame;
  home.children ??= [];
  home.children.push(register({ id: NOT_FOUND_ROUTE, path: '*', ...SHARED }, home.id));

  return { objects: [frame], byId, definitions, branchOf };
}

/**
 * Markers only. React Router needs them to assign an error to a route; both sides load data on their own, and find
 * matched and failed routes by id.
 */
const SHARED = { loader: true, action: true, errorElement: true, caseSensitive: true } as const;
