import { readProperty } from '../../shared/reporting/read-property.ts';

/** What is read of a layer of a router of Express 5 (`tests/upstream.test.tsx`). */
interface Layer {
  readonly rawPath?: unknown;
  readonly route?: object;
  readonly handle: object;
}

const patterns = new WeakMap<object, string>();

/**
 * Records the patterns of all routes in a router or an app of Express 5, and in routers that are mounted in it. Of a
 * mount, a request only has the values of the parameters, which can be secrets, and after an error not even these. Other
 * handlers have no routes.
 */
export function recordPatterns(router: object, base = ''): void {
  // In an app of Express 4, reading it throws.
  const { stack = [] } = (readProperty(router, 'router') ?? router) as { readonly stack?: readonly Layer[] };
  for (const { rawPath, route, handle } of stack) {
    if (typeof rawPath !== 'string') continue; // a list or a regular expression
    const pattern = base + rawPath;
    if (!route) recordPatterns(handle, pattern.replace(/\/$/, ''));
    // Of a router that is mounted twice, routes have their own part.
    else patterns.set(route, (patterns.get(route) ?? pattern) === pattern ? pattern : rawPath);
  }
}

/** Returns the pattern of a route of Express. Of one that is not recorded, it can be the end. */
export function findPattern(route: { readonly path: unknown } | undefined): string | undefined {
  if (!route) return undefined;
  return patterns.get(route) ?? (typeof route.path === 'string' ? route.path : undefined);
}
