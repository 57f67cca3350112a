import type { PageTable } from './load-page.ts';

/** Tables that do not fit each other, in sentences for whoever started the server. */
export class WiringError extends Error {}

/**
 * What the compiler says by `ServerPages<typeof routes>`, for who did not ask it.
 *
 * @throws WiringError for a route without a server half, and for a half without a route
 */
export function requireBothHalves(routeIds: Iterable<string>, pages: PageTable, family = 'product'): void {
  const routes = new Set(routeIds);
  const lost = Object.keys(pages).filter((id) => !routes.has(id));
  const missing = [...routes].filter((id) => !Object.hasOwn(pages, id) || pages[id] === undefined);
  const sentences = [
    ...missing.map(
      (id) =>
        `The route "${id}" has no server half. Give it one in src/server/${family}/pages/index.ts, or null there if it needs nothing of the server.`,
    ),
    ...lost.map(
      (id) =>
        `The server half "${id}" has no route. Mend its id in src/server/${family}/pages/index.ts, or give src/shared/${family}/routes.tsx a route of that id.`,
    ),
  ];
  if (sentences.length > 0) throw new WiringError(sentences.join('\n'));
}
