import type { Params } from 'react-router';
import type { EngineContext, LoaderArgs } from './server-page.ts';

/**
 * What the loaders of a static page are called with. Such a page is shown to everyone, so nothing of
 * the one visitor for whom it happens to be rendered can be read: the request has a URL alone, and
 * the context `fetch` and what is the same for everyone. Anything else is an error, at render, with
 * words that say why.
 */
export function toSharedArgs(
  url: string,
  params: Params,
  signal: AbortSignal,
  contextFetch: typeof fetch,
  shared: object = {},
): LoaderArgs {
  const request = new Request(url, { signal });
  Object.defineProperty(request, 'headers', {
    get() {
      throw new Error(refusal('request.headers'));
    },
  });
  const context = new Proxy<EngineContext>(
    { fetch: contextFetch },
    {
      get(target, key) {
        if (key === 'fetch') return target.fetch;
        if (Object.hasOwn(shared, key)) return Reflect.get(shared, key);
        if (typeof key === 'symbol' || key === 'then') return undefined; // inspected or awaited, not read
        throw new Error(refusal(`context.${key}`));
      },
    },
  );
  return { request, params, context, signal };
}

/** Whichever host were kept, it would be another one than the browser names where it hydrates. */
export const HOST_REFUSAL =
  'A static page read useHost(). It is rendered once and shown to everyone, and its visitors may have asked different hosts: set PUBLIC_ORIGINS to the one origin that they use, make the route dynamic, or leave that to the browser.';

function refusal(what: string): string {
  return `A static page read ${what}. It is rendered once and shown to everyone, so it knows no visitor: make the route dynamic, or leave that to the browser.`;
}
