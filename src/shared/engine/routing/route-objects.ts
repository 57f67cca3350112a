import type { DataRouteObject } from 'react-router';
import { FRAME_ROUTE, NOT_FOUND_ROUTE } from '../wire/protocol.ts';
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
 * Marks alone: both sides bring the data by ways of their own, and show what is matched and what
 * failed by ids. React Router asks for them to know where an error belongs.
 */
const SHARED = { loader: true, action: true, errorElement: true, caseSensitive: true } as const;
