import type { Params } from 'react-router';
import type { RenderMode } from '../../../shared/routing/routes.ts';
import { refusePersonal } from '../personal.ts';
import type { EngineContext, LoaderArgs } from '../server-page.ts';

interface SharedArgsOptions {
  readonly mode: RenderMode;
  readonly url: string;
  readonly params: Params;
  readonly signal: AbortSignal;
  /** The engine's part of the context. */
  readonly own: EngineContext;
  /** What everyone's context has. */
  readonly shared?: object | undefined;
}

/**
 * The arguments of the loaders of a static page, or of the shell of a page. It is shown to everyone, so they contain
 * nothing personal. The request only has a URL, and the context only `fetch`, `log` and the parts that are the same for
 * everyone. Reading anything else throws, with the reason.
 */
export function toSharedArgs({ mode, url, params, signal, own, shared = {} }: SharedArgsOptions): LoaderArgs {
  const request = new Request(url, { signal });
  Object.defineProperty(request, 'headers', {
    get() {
      throw new Error(refusal('request.headers', mode));
    },
  });
  const context = new Proxy<EngineContext>(own, {
    get(target, key) {
      if (Object.hasOwn(target, key)) return Reflect.get(target, key);
      if (Object.hasOwn(shared, key)) return Reflect.get(shared, key);
      if (typeof key === 'symbol' || key === 'then') return undefined; // inspected or awaited, not read
      throw new Error(refusal(`context.${key}`, mode));
    },
  });
  refusePersonal(context);
  return { request, url: new URL(url), params, context, signal, isPrefetch: false };
}

/** A static page is cached for all hosts, so its host would differ from the browser's when it hydrates. */
export function toHostRefusal(mode: RenderMode): string {
  const what = mode === 'shell' ? 'The shell of a page' : 'A static page';
  return `${what} read useHost(). It is rendered once for everyone, and visitors can use different hosts. Set PUBLIC_ORIGINS to the one origin that they use, make the route dynamic, or read the host in the browser.`;
}

function refusal(what: string, mode: RenderMode): string {
  return mode === 'shell'
    ? `The shell of a page read ${what}. It is rendered once for everyone, so it has no visitor. Read it in a personal value, personal(args, ({ request, context }) => …), or make the route dynamic.`
    : `A static page read ${what}. It is rendered once for everyone, so it has no visitor. Make the route dynamic, or read it in the browser.`;
}
