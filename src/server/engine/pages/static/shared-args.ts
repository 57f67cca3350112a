import type { Params } from 'react-router';
import type { EngineContext, LoaderArgs } from '../server-page.ts';

/**
 * The arguments of a static page's loaders. The page is shown to everyone, so they contain nothing personal. The
 * request only has a URL, and the context only `fetch`, `log` and the parts that are the same for everyone. Reading anything
 * else throws, with the reason.
 */
export function toSharedArgs(
  url: string,
  params: Params,
  signal: AbortSignal,
  own: EngineContext,
  shared: object = {},
): LoaderArgs {
  const request = new Request(url, { signal });
  Object.defineProperty(request, 'headers', {
    get() {
      throw new Error(refusal('request.headers'));
    },
  });
  const context = new Proxy<EngineContext>(own, {
    get(target, key) {
      if (Object.hasOwn(target, key)) return Reflect.get(target, key);
      if (Object.hasOwn(shared, key)) return Reflect.get(shared, key);
      if (typeof key === 'symbol' || key === 'then') return undefined; // inspected or awaited, not read
      throw new Error(refusal(`context.${key}`));
    },
  });
  return { request, url: new URL(url), params, context, signal };
}

/** A static page is cached for all hosts, so its host would differ from the browser's when it hydrates. */
export const HOST_REFUSAL =
  'A static page read useHost(). It is rendered once for everyone, and visitors can use different hosts. Set PUBLIC_ORIGINS to the one origin that they use, make the route dynamic, or read the host in the browser.';

function refusal(what: string): string {
  return `A static page read ${what}. It is rendered once for everyone, so it has no visitor. Make the route dynamic, or read it in the browser.`;
}
