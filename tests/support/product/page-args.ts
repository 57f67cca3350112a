import type { ActionArgs, LoaderArgs } from '#engine/server';
import { readConfig } from '#engine/testing';
import type { AppContext } from '#product-server/context.ts';
import { settings } from '#product-server/settings.ts';

/** The parts of a page request that matter to a test. The rest have defaults. */
export interface PageArgsOptions {
  /** Path and search, or a full URL. */
  readonly url?: string;
  readonly params?: LoaderArgs['params'];
  /** The parsed search, if the page has a schema for it. */
  readonly search?: unknown;
  /** The environment that the settings are read from. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Parts of the context that replace the defaults. */
  readonly context?: Partial<AppContext>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly isPrefetch?: boolean;
}

/** Arguments for a loader or guard, to test a server file without a server. */
export function loaderArgs(options: PageArgsOptions = {}): LoaderArgs<AppContext> & { readonly search: unknown } {
  const { params = {}, search, context, env = {}, headers = {}, isPrefetch = false } = options;
  const { signal = new AbortController().signal } = options;
  const url = new URL(options.url ?? '/', 'http://app.example');
  // If your context has more parts, add them here, or pass them as `context` in each test that needs them.
  const usual: Partial<AppContext> = {
    fetch,
    log: console,
    settings: settings.read(env, readConfig(env)),
  };
  return {
    request: new Request(url, { headers, signal }),
    url,
    params,
    search,
    context: { ...usual, ...context } as AppContext,
    signal,
    isPrefetch,
  };
}

/** Arguments for an action and the guards before it, from a form or its fields. */
export function actionArgs(
  form: FormData | Readonly<Record<string, string | File>>,
  options?: PageArgsOptions,
): ActionArgs<AppContext> {
  const args = loaderArgs(options);
  return {
    ...args,
    request: new Request(args.request, { method: 'POST' }),
    form: form instanceof FormData ? form : toForm(form),
  };
}

function toForm(fields: Readonly<Record<string, string | File>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}
