import { ROUTE_LOAD_TIMEOUT } from '../../../shared/engine/limits.ts';
import type { PageModule, RouteDefinition } from '../../../shared/engine/routing/routes.ts';

/** A route's chunk or styles did not come: only a whole document can help. */
export class RouteLoadError extends Error {
  constructor(id: string, cause?: unknown) {
    super(`The script or the styles of route "${id}" could not be loaded.`, { cause });
    this.name = 'RouteLoadError';
  }
}

export interface RouteLoader {
  readonly modules: ReadonlyMap<string, PageModule>;
  /**
   * Brings the chunks of these routes.
   *
   * @throws RouteLoadError where one fails, or takes longer than `ROUTE_LOAD_TIMEOUT`
   */
  load(ids: readonly string[]): Promise<void>;
  /** Brings style sheets before the page that needs them is shown. */
  loadStyles(styles: Readonly<Record<string, readonly string[]>>): Promise<void>;
}

export function createRouteLoader(definitions: ReadonlyMap<string, RouteDefinition>): RouteLoader {
  const modules = new Map<string, PageModule>();
  const sheets = new Map<string, Promise<void>>();

  async function loadOne(id: string): Promise<void> {
    const definition = definitions.get(id);
    if (!definition || modules.has(id)) return;
    try {
      modules.set(id, await definition.page());
    } catch (cause) {
      throw new RouteLoadError(id, cause);
    }
  }

  function loadSheet(id: string, href: string): Promise<void> {
    const known = sheets.get(href);
    if (known) return known;
    if (document.querySelector(`link[rel="stylesheet"][href="${CSS.escape(href)}"]`)) return Promise.resolve();
    const loading = new Promise<void>((resolve, reject) => {
      // A preload: React inserts the sheet itself, with the page, and finds it in the cache.
      const link = document.createElement('link');
      link.rel = 'preload';
      link.as = 'style';
      link.href = href;
      link.onload = () => resolve();
      link.onerror = (cause) => {
        sheets.delete(href);
        link.remove();
        reject(new RouteLoadError(id, cause));
      };
      document.head.append(link);
    });
    sheets.set(href, loading);
    return loading;
  }

  return {
    modules,
    load: (ids) => withTimeout(Promise.all(ids.map(loadOne)), ids),
    loadStyles(styles) {
      const loading = Object.entries(styles).flatMap(([id, hrefs]) => hrefs.map((href) => loadSheet(id, href)));
      return withTimeout(Promise.all(loading), Object.keys(styles));
    },
  };
}

async function withTimeout(loading: Promise<unknown>, ids: readonly string[]): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new RouteLoadError(ids.join(', '), 'timeout')), ROUTE_LOAD_TIMEOUT);
  });
  try {
    await Promise.race([loading, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
