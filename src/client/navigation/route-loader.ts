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
  /** Loads the chunks of these routes. @throws RouteLoadError if one fails */
  load(ids: readonly string[]): Promise<unknown>;
}

/** @param shown the page that the server rendered, with its style sheets */
export function createRouteLoader(definitions: ReadonlyMap<string, RouteDefinition>, shown: PagePayload): RouteLoader {
  const modules = new Map<string, PageModule>();

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

  return {
    modules,
    styles: new Map(Object.entries(shown.styles)),
    load: (ids) => Promise.all(ids.map(loadOne)),
  };
}
