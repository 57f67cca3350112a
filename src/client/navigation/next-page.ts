import { ROUTE_LOAD_TIMEOUT } from '../../shared/shared-limits.ts';
import type { PagePayload } from '../../shared/wire/payload.ts';
import { RouteLoadError, type RouteLoader } from './route-loader.ts';

/** Loads what the next page needs besides its data. */
export interface NextPage {
  /** Loads style sheets before the page that needs them is shown. @throws RouteLoadError if one fails */
  loadStyles(styles: PagePayload['styles']): Promise<unknown>;
  /**
   * Loads everything that a page needs, and makes it ready to render.
   *
   * @throws RouteLoadError if a part fails, or takes longer than `ROUTE_LOAD_TIMEOUT`
   */
  prepare(page: PagePayload): Promise<void>;
}

export function createNextPage(loader: RouteLoader): NextPage {
  const sheets = new Map<string, Promise<void>>();

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

  function loadStyles(needed: PagePayload['styles']): Promise<unknown> {
    return Promise.all(Object.entries(needed).flatMap(([id, hrefs]) => hrefs.map((href) => loadSheet(id, href))));
  }

  return {
    loadStyles,
    async prepare({ routes, styles }) {
      const timeout = new Promise<never>((_, reject) => {
        setTimeout(() => reject(new RouteLoadError(routes.join(', '), 'timeout')), ROUTE_LOAD_TIMEOUT);
      });
      await Promise.race([Promise.all([loader.load(routes), loadStyles(styles)]), timeout]);
      for (const [id, hrefs] of Object.entries(styles)) loader.styles.set(id, hrefs);
    },
  };
}
