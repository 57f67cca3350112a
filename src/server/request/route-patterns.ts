import type Express from 'express';
import { Router } from 'express';
import { readProperty } from '../../shared/reporting/read-property.ts';
import { captureCall, type Definition } from './definition.ts';

/** The properties that are read of a layer of a router of Express 5 or 4 (`tests/upstream.test.tsx`). */
interface Layer {
  readonly rawPath?: unknown;
  readonly route?: { readonly path: unknown };
  readonly handle: object;
  /** In Express 4. */
  readonly regexp?: RegExp;
  readonly keys?: readonly { readonly name: string | number }[];
}

const patterns = new WeakMap<object, string>();
/** Where routes were made, for errors of their handlers whose stack does not say so. */
const definitions = new WeakMap<object, Definition>();

const instrumented = new WeakSet<object>();
recordCalls({ Router });

/** Remembers where routes of an Express 5 or 4 are made from now on. An existing app can have its own copy. */
export function recordCalls({ Router }: Pick<typeof Express, 'Router'>): void {
  // In Express 4, the function itself is the prototype.
  const prototype: Pick<Router, 'route'> = 'route' in Router ? Router : Router.prototype;
  if (instrumented.has(prototype)) return;
  const { route } = prototype;
  prototype.route = function withDefinition(this: Router, ...args: Parameters<typeof route>) {
    const made = route.apply(this, args);
    definitions.set(made, { call: captureCall(withDefinition) });
    return made;
  } as typeof route;
  instrumented.add(prototype);
}

export function findDefinition(route: object | undefined): Definition | undefined {
  return route && definitions.get(route);
}

/**
 * Records the patterns of all routes in a router or an app of Express, and in routers that are mounted in it. Of a
 * mount, a request only has the values of the parameters, which can be secrets, and after an error not even these. Other
 * handlers have no routes.
 */
export function recordPatterns(router: object, base = ''): void {
  // In an app of Express 4, reading `router` throws.
  const inner = readProperty(router, 'router') ?? readProperty(router, '_router') ?? router;
  const { stack = [] } = inner as { readonly stack?: readonly Layer[] };
  for (const layer of stack) {
    const { route, handle } = layer;
    const path = layer.regexp ? (route?.path ?? readMount(layer.regexp, layer.keys)) : layer.rawPath;
    if (typeof path !== 'string') continue; // a list or a regular expression
    const pattern = base + path;
    if (!route) recordPatterns(handle, pattern.replace(/\/$/, ''));
    // Of a router that is mounted twice, routes have their own part.
    else patterns.set(route, (patterns.get(route) ?? pattern) === pattern ? pattern : path);
  }
}

/** Express 4 keeps only the regular expression of a mount. Returns undefined unless it is made of names and `:parameters`. */
function readMount({ source }: RegExp, keys: Layer['keys'] = []): string | undefined {
  const names = keys.values();
  const path = source
    .replace(/^\^(.*)\\\/\?\(\?=\\\/\|\$\)$/, '$1')
    .replace(/\(\?:(\\\/)?\(\[\^\\?\/\]\+\?\)\)/g, (_, slash = '') => `${slash}:${names.next().value?.name}`)
    .replace(/\\([/.])/g, '$1');
  return /[\\()[\]*+?^$|]/.test(path) ? undefined : path;
}

/** Returns the pattern of a route of Express. Of one that is not recorded, it can be the end. */
export function findPattern(route: { readonly path: unknown } | undefined): string | undefined {
  if (!route) return undefined;
  return patterns.get(route) ?? (typeof route.path === 'string' ? route.path : undefined);
}
