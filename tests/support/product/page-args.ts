import type { ActionArgs, LoaderArgs } from '#engine/server';
import { readConfig } from '#engine/testing';
import type { AppContext } from '#product-server/context.ts';
import { settings } from '#product-server/settings.ts';

/** What of a visit matters to a test; the rest is as it usually is. */
export interface PageArgsOptions {
  /** Path and search, or a whole address. */
  readonly url?: string;
  readonly params?: LoaderArgs['params'];
  /** What is to stand in the place of the usual context, part by part. */
  readonly context?: Partial<AppContext>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** What a loader or guard is called with. Use when a server half is tested without a server. */
export function loaderArgs(options: PageArgsOptions = {}): LoaderArgs<AppContext> {
  const { url = '/', params = {}, context, headers = {}, signal = new AbortController().signal } = options;
  // What your context has beyond these parts: add it here, or give it in the `context` of each test that needs it.
  const usual: Partial<AppContext> = {
    fetch,
    settings: settings.read({}, readConfig({})),
  };
  return {
    request: new Request(new URL(url, 'http://app.example'), { headers, signal }),
    params,
    context: { ...usual, ...context } as AppContext,
    signal,
  };
}

/** What an action is called with, and the guards before it, for a form or its fields. */
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
