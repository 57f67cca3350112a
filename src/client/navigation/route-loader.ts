import { ROUTE_LOAD_TIMEOUT } from '../../shared/limits.ts';
import type { PageModule, RouteDefinition } from '../../shared/routing/routes.ts';
import type { PagePayload } from '../../shared/wire/payload.ts';
import { isLoadFailure } from '../reporting/thrown.ts';

/** A route's chunk or styles did not load, so only a full document load can help. */
export class RouteLoadError extends Error {
  constructor(id: string, cause?: unknown) {
    super(`The script or the styles of route "${id}" could not be loaded.`, { cause });
    this.name = 'RouteLoadError';
  }
}

export interface RouteLoader {
  /** By route id, of the routes that can render now. */
  readonly modules: Map<string, PageModule>;
  /** Style sheets by route id. */
  readonly styles: Map<string, readonly string[]>;
  /**
   * Loads the chunks of these routes.
   *
   * @throws RouteLoadError if one fails, or takes longer than `ROUTE_LOAD_TIMEOUT`
   */
  load(ids: readonly string[]): Promise<void>;
  /** Loads style sheets before the page that needs them is shown. Throws like `load`. */
  loadStyles(styles: PagePayload['styles']): Promise<void>;
  /** Loads everything that a page needs, and makes it ready to render. Throws like `load`. */
  prepare(page: PagePayload): Promise<void>;
}

/** @param shown the page that the server rendered, with its style sheets */
export function createRouteLoader(definitions: ReadonlyMap<string, RouteDefinition>, shown: PagePayload): RouteLoader {
  const modules = new Map<string, PageModule>();
  const styles = new Map(Object.entries(shown.styles));
  const sheets = new Map<string, Promise<void>>();

  async function loadOne(id: string): Promise<void> {
    const definition = definitions.get(id);
    if (!definition || modules.has(id)) return;
    try {
      modules.set(id, await definition.page());
    } catch (cause) {
      // Any other error was thrown by the module itself.
      throw isLoadFailure(cause) ? new RouteLoadError(id, cause) : cause;
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

  const load = (ids: readonly string[]) => inTime(ids.map(loadOne), ids);

  function loadStyles(needed: PagePayload['styles']): Promise<void> {
    const loading = Object.entries(needed).flatMap(([id, hrefs]) => hrefs.map((href) => loadSheet(id, href)));
    return inTime(loading, Object.keys(needed));
  }

  return {
    modules,
    styles,
    load,
    loadStyles,
    async prepare(page) {
      await Promise.all([load(page.routes), loadStyles(page.styles)]);
      for (const [id, hrefs] of Object.entries(page.styles)) styles.set(id, hrefs);
    },
  };
}

async function inTime(loading: readonly Promise<void>[], ids: readonly string[]): Promise<void> {
  const timeout = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new RouteLoadError(ids.join(', '), 'timeout')), ROUTE_LOAD_TIMEOUT);
  });
  await Promise.race([Promise.all(loading), timeout]);
}
