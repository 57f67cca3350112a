import { createRouteTree, type RouteTree } from '../../shared/routing/route-objects.ts';
import type { PageModule, RouteDefinition } from '../../shared/routing/routes.ts';
import { MAX_ACTION_BYTES } from '../../shared/shared-limits.ts';
import { Second } from '../../shared/units.ts';
import { WiringError } from '../errors/wiring-error.ts';
import { createArgsMaker } from './loader-args.ts';
import { createMatcher } from './match-page.ts';
import type { LoadedPageApp, PageApp, PagesOptions } from './page-runtime.ts';
import type { PageTable } from './server-page.ts';

const RENDER_DEADLINE = 15 * Second;

/** @throws WiringError if the route table and the server files do not fit, or a page exports no component */
export async function loadApp<Own extends object, Shared extends object>({
  app,
  server,
  settings,
}: PagesOptions<Own, Shared>): Promise<LoadedPageApp> {
  const { document, errorPages, family } = app;
  const { isSecret, compression = false, deadlineMs = RENDER_DEADLINE, maxActionBytes = MAX_ACTION_BYTES } = settings;
  const tree = createRouteTree(app.routes);
  const pages = app.pages as PageTable; // they are called with what the maker of arguments makes
  requireBothHalves(tree.definitions, pages, family);
  requireOwnPaths(tree, { findTaker: server.findTaker, family });
  const modules = await loadModules(tree.definitions, family);
  return {
    tree,
    matchPage: createMatcher(tree),
    pages,
    modules,
    document,
    errorPages,
    args: createArgsMaker(app as unknown as PageApp, server), // it gets the app's own `sharedContext`
    settings: { isSecret, compression, deadlineMs, maxActionBytes },
  };
}

async function loadModules(
  definitions: ReadonlyMap<string, RouteDefinition>,
  family = 'product',
): Promise<Map<string, PageModule>> {
  const loading = [...definitions.values()].map(async ({ id, page }) => {
    return [id, await page().catch((error) => explainLoad(id, error))] as const;
  });
  const modules = new Map(await Promise.all(loading));
  for (const [id, module] of modules) {
    if (module.default) continue;
    throw new WiringError(
      `The page "${id}" does not export a component as its default. src/shared/${family}/routes.tsx names its file.`,
    );
  }
  return modules;
}

/** The stack of a package that needs `window` as it loads shows code of that package, and names neither page nor cure. */
function explainLoad(id: string, error: unknown): never {
  if (!(error instanceof ReferenceError) || !error.message.endsWith(' is not defined')) throw error;
  const explained = new WiringError(
    `The page "${id}" cannot be loaded on the server: ${error.message}. If a package needs a browser as it loads, import it in an effect: see docs/recipes/component-libraries.md#packages-for-browsers-only.`,
  );
  explained.stack = error.stack ?? ''; // names the product's file
  throw explained;
}

/** @throws WiringError for a route that would never be shown at one of its URLs: another route, a public file or the server has it */
function requireOwnPaths(
  { definitions, branchOf }: RouteTree,
  { findTaker, family = 'product' }: Pick<PagesOptions['server'], 'findTaker'> & Pick<PageApp, 'family'>,
): void {
  const owners = new Map<string, RouteDefinition>();
  for (const route of definitions.values()) {
    for (const form of listForms(route.path ?? '')) {
      const taker = findTaker?.(form);
      if (taker !== undefined)
        throw new WiringError(
          `The route "${route.id}" ('${route.path}') in src/shared/${family}/routes.tsx would never be shown, because ${taker} answers ${form}. Give the route another path.`,
        );
      const owner = owners.get(form);
      owners.set(form, route);
      if (!owner || branchOf(route.id).includes(owner.id)) continue; // around the route, or the route itself
      throw new WiringError(
        `The routes "${owner.id}" ('${owner.path}') and "${route.id}" ('${route.path}') in src/shared/${family}/routes.tsx have URLs in common, so only one of them would be shown there. Give one another path.`,
      );
    }
  }
}

/** The forms of a path with and without its optional segments. The names of its parameters make no difference. */
function listForms(path: string): string[] {
  let forms = path ? [''] : [];
  for (const segment of path.split('/').filter(Boolean)) {
    const part = segment.replace(/\?$/, '').replace(/^:[\w-]+/, ':');
    const longer = forms.map((form) => `${form}/${part}`);
    forms = segment.endsWith('?') ? [...forms, ...longer] : longer;
  }
  return forms;
}

/**
 * Checks at start what `ServerPages<typeof routes>` checks in the compiler.
 *
 * @throws WiringError for a route without a server file, a server file without a route, and one with the wrong shape
 */
export function requireBothHalves(
  routes: ReadonlyMap<string, Pick<RouteDefinition, 'path'>>,
  pages: PageTable,
  family = 'product',
): void {
  const lost = Object.keys(pages).filter((id) => !routes.has(id));
  const missing = [...routes.keys()].filter((id) => !Object.hasOwn(pages, id) || pages[id] === undefined);
  const sentences = [
    ...missing.map(
      (id) => `The route "${id}" is missing in src/server/${family}/pages/index.ts. Add its server file, or null.`,
    ),
    ...lost.map(
      (id) =>
        `src/server/${family}/pages/index.ts has a server file "${id}", but there is no such route. Correct the id, or add the route to src/shared/${family}/routes.tsx.`,
    ),
    ...Object.entries(pages).flatMap(([id, half]) =>
      listWrongParts(half, routes.get(id)?.path).map(
        (part) => `In the server file of "${id}" (src/server/${family}/pages), ${part}.`,
      ),
    ),
  ];
  if (sentences.length > 0) throw new WiringError(sentences.join('\n'));
}

function listWrongParts(half: PageTable[string], routePath: string | undefined): string[] {
  const { guard, loader, version, actions, path, search } = half ?? {};
  const ownActions = Object.entries(actions ?? {}).map(([name, action]) => {
    const run = typeof action === 'object' && action.maxBytes > 0 ? action.run : action;
    return [`actions.${name}`, run] as const;
  });
  const wrong = [...Object.entries({ guard, loader, version }).filter(([, part]) => part !== undefined), ...ownActions]
    .filter(([, part]) => typeof part !== 'function')
    .map(([name]) => `${name} is not a function${name.startsWith('actions.') ? ' or { maxBytes, run }' : ''}`);
  if (search && !('~standard' in search)) wrong.push('search is not a schema, such as z.object({ … })');
  if (path !== undefined && path !== routePath)
    wrong.push(`path is '${path}', but its route has ${routePath ? `'${routePath}'` : 'none'}`);
  return wrong;
}
