import { useContext } from 'react';
import {
  UNSAFE_DataRouterDataContext as DataContext,
  UNSAFE_RouteContext as RouteContext,
  useLoaderData,
  useRouteError,
} from 'react-router';
import type { PartOf } from '../routing/page-props.ts';
import type { ActionResult, PageError } from '../wire/payload.ts';
import { FRAME_ROUTE } from '../wire/protocol.ts';
import { type Engine, useEngine } from './engine-context.ts';
import { isPageError, UNKNOWN_FAILURE } from './page-error.ts';

/** Returns the data of this route's loader: `useData<typeof order>()`, or an interface of the data. */
export function useData<Half>(): PartOf<Half, 'data'> {
  return useLoaderData() as PartOf<Half, 'data'>; // the server file ensures this type
}

/** Returns the parsed search of this route, whose server file has a schema for it: `useSearch<typeof orders>()`. */
export function useSearch<Half>(): PartOf<Half, 'search'> {
  const id = useContext(RouteContext).matches.at(-1)?.route.id ?? '';
  return toSearches(useContext(DataContext)?.loaderData)[id] as PartOf<Half, 'search'>;
}

/** The parsed searches, by route id. They are in the data of the frame, so that they change together with all data. */
export function toSearches(loaderData: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return (loaderData[FRAME_ROUTE] ?? {}) as Record<string, unknown>;
}

/**
 * Returns the last result of an action, with or without JavaScript. Pages get this hook from `createActionUses()`, which
 * types its result.
 *
 * @param action `<route id>.<name>`
 * @returns undefined until this action has run on this page
 */
export function useActionResult(action: string): ActionResult | undefined {
  const results = useContext(DataContext)?.actionData;
  for (const result of Object.values(results ?? {}) as (ActionResult | undefined)[]) {
    if (result?.action === action) return result;
  }
  return undefined;
}

/** Returns, in an `ErrorBoundary`, what the visitor can see of the error. */
export function usePageError(): PageError {
  const error = useRouteError();
  return isPageError(error) ? error : UNKNOWN_FAILURE;
}

/**
 * Reloads this page's data if a HEAD request shows that it has changed. Use it for a page that receives notifications or
 * polls. Typed text, checked boxes and the scroll position stay.
 *
 * @returns a function to call in an effect or an event handler. It resolves to false if this is unknown at the moment. If
 *   the server runs another build, it loads the document. With `{ reload: false }` it resolves to false instead, for a page
 *   that receives a stream.
 */
export function useRefresh(): NonNullable<Engine['refresh']> {
  return useEngine().refresh ?? refuseRefresh;
}

async function refuseRefresh(): Promise<boolean> {
  return false;
}

/**
 * Returns the name of the requested host, validated by the server.
 *
 * @throws Error on a page with `mode: 'static'` or `'shell'`, unless `PUBLIC_ORIGINS` names a single host
 */
export function useHost(): string {
  const { host, hostRefusal } = useEngine();
  if (hostRefusal !== undefined) throw new Error(hostRefusal);
  return host;
}

/**
 * Returns the document's nonce, for inline scripts, `<style>` elements and component libraries:
 * `<script nonce={useNonce()}>`. It stays the same while the visitor navigates without loading a document. It is
 * undefined if the document is a page with `mode: 'static'`, which runs no inline scripts.
 */
export function useNonce(): string | undefined {
  return useEngine().nonce;
}

/**
 * Sends the styles of a component library with the HTML that needs them. Does nothing in the browser.
 *
 * @param collect called on the server before each part of the page is sent. Returns the HTML of the styles since the
 * last call, such as `<style nonce="…">`, or ''.
 */
export function useServerStyles(collect: () => string): void {
  useEngine().onStyles?.(collect);
}
