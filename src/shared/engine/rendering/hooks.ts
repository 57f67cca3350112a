import { useContext } from 'react';
import { UNSAFE_DataRouterDataContext as DataContext, useLoaderData, useRouteError } from 'react-router';
import type { ActionResult, PageError } from '../wire/payload.ts';
import { useEngine } from './engine-context.ts';
import { isPageError, UNKNOWN_FAILURE } from './page-error.ts';

/** What this route's loader returned. `Data` is the interface that stands beside the page. */
export function useData<Data>(): Data {
  return useLoaderData() as Data; // the server half promises this shape: ServerPage<Data>
}

/**
 * What the action answered last, with or without JavaScript. Pages take it from `createActionUses()`,
 * which knows what it returns.
 *
 * @param action `<route id>.<name>`
 * @returns undefined until this action has answered on this page
 */
export function useActionResult(action: string): ActionResult | undefined {
  const results = useContext(DataContext)?.actionData;
  for (const result of Object.values(results ?? {}) as (ActionResult | undefined)[]) {
    if (result?.action === action) return result;
  }
  return undefined;
}

/** In an `ErrorBoundary`: what the visitor may learn of what went wrong. */
export function usePageError(): PageError {
  const error = useRouteError();
  return isPageError(error) ? error : UNKNOWN_FAILURE;
}

/**
 * Brings the data of this page anew where it has changed, which is asked by HEAD: for a page that hears
 * of changes by itself, or looks from time to time. What is typed, ticked and scrolled stays.
 *
 * @returns to be called in an effect or an event handler: false where it could not be told at the moment
 */
export function useRefresh(): () => Promise<boolean> {
  return useEngine().refresh ?? refuseRefresh;
}

async function refuseRefresh(): Promise<boolean> {
  return false;
}

/**
 * The name of the host that the visitor asked, checked by the server. A page with `mode: 'static'` has
 * one where `PUBLIC_ORIGINS` names a single host; elsewhere reading it there is an error.
 */
export function useHost(): string {
  const { host, hostRefusal } = useEngine();
  if (hostRefusal !== undefined) throw new Error(hostRefusal);
  return host;
}

/**
 * Lets an inline script of yours run: `<script nonce={useNonce()} suppressHydrationWarning>`. Browsers
 * hide a nonce from scripts, so it is undefined there, and React is told not to wonder. A page with
 * `mode: 'static'` has none either, and runs no inline script.
 */
export function useNonce(): string | undefined {
  return useEngine().nonce;
}
