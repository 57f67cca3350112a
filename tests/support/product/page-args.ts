import type { ActionArgs, LoaderArgs } from '../../../src/server/engine/pages/server-page.ts';
import type { AppContext } from '../../../src/server/product/context.ts';

interface PageArgsOptions {
  params?: Record<string, string>;
  tourFailures?: boolean;
  signal?: AbortSignal;
}

/** What a loader or guard is called with. Use when a server half is tested without a server. */
export function loaderArgs({ params = {}, tourFailures = true, signal }: PageArgsOptions = {}): LoaderArgs<AppContext> {
  return {
    request: new Request('http://weir.example/'),
    params,
    context: { fetch, settings: { tourFailures } },
    signal: signal ?? new AbortController().signal,
  };
}

/** What an action is called with, for a form with these fields. */
export function actionArgs(fields: Record<string, string | File>): ActionArgs<AppContext> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return { ...loaderArgs(), form };
}
