import { WiringError } from '../errors/wiring-error.ts';
import type { PageTable } from './server-page.ts';

/**
 * Checks at start what `ServerPages<typeof routes>` checks in the compiler.
 *
 * @throws WiringError for a route without a server half, a server half without a route, and one with the wrong shape
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
    ...Object.entries(pages).flatMap(([id, half]) =>
      listWrongParts(half).map(
        (part) => `In the server half of "${id}" (src/server/${family}/pages), ${part} is not a function.`,
      ),
    ),
  ];
  if (sentences.length > 0) throw new WiringError(sentences.join('\n'));
}

function listWrongParts(half: PageTable[string]): string[] {
  const { guard, loader, version, actions } = half ?? {};
  const ownActions = Object.entries(actions ?? {}).map(([name, action]) => [`actions.${name}`, action] as const);
  return [...Object.entries({ guard, loader, version }).filter(([, part]) => part !== undefined), ...ownActions]
    .filter(([, part]) => typeof part !== 'function')
    .map(([name]) => name);
}
