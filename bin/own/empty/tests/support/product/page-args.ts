import { readConfig } from '../../../src/server/config.ts';
import type { ActionArgs, LoaderArgs } from '../../../src/server/engine/pages/server-page.ts';
import type { AppContext } from '../../../src/server/product/context.ts';
import { readProductSettings } from '../../../src/server/product/settings.ts';

interface PageArgsOptions {
  params?: Record<string, string>;
  signal?: AbortSignal;
}

/** What a loader or guard is called with. Use when a server half is tested without a server. */
export function loaderArgs({ params = {}, signal }: PageArgsOptions = {}): LoaderArgs<AppContext> {
  return {
    request: new Request('http://app.example/'),
    params,
    context: { fetch, settings: readProductSettings({}, readConfig({})) },
    signal: signal ?? new AbortController().signal,
  };
}

/** What an action is called with, for a form with these fields. */
export function actionArgs(fields: Record<string, string | File>): ActionArgs<AppContext> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return { ...loaderArgs(), form };
}
