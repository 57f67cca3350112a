import type { PageTable } from './server-page.ts';

/** Thrown at start if the route table and the server halves do not match. */
export class WiringError extends Error {}

/**
 * Checks at start what `ServerPages<typeof routes>` checks in the compiler.
 *
 * @throws WiringError for a route without a server half, and for a server half without a route
 */
export function requireBothHalves(routeIds: Iterable<string>, pages: PageTable, family = 'product'): void {
  const routes = new Set(routeIds);
  const lost = Object.keys(pages).filter((id) => !routes.has(id));
  const missing = [...routes].filter((id) => !Object.hasOwn(pages, id) || pages[id] === undefined);
  const sentences = [
    ...missing.map(
      (id) => `The route "${id}" is missing in src/server/${family}/pages/index.ts. Add its server half, or null.`,
    ),
    ...lost.map(
      (id) =>
        `src/server/${family}/pages/index.ts has a server half "${id}", but there is no such route. Correct the id, or add the route to src/shared/${family}/routes.tsx.`,
    ),
  ];
  if (sentences.length > 0) throw new WiringError(sentences.join('\n'));
}
