// In the first load: what only judging needs is in `judge-thrown.ts`.

import { isControlFlow } from '../../../shared/engine/routing/control-flow.ts';

/** A property of anything; undefined where there is none, or where reading it throws. */
export function read(value: unknown, name: string): unknown {
  try {
    return (Object(value) as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

/** A page's way to end on purpose, here or on the server, or the end of what nobody waits for any more. */
export function isMeant(thrown: unknown): boolean {
  const kind = read(read(thrown, 'pageError'), 'kind') ?? 'failure';
  return isControlFlow(thrown) || kind !== 'failure' || read(thrown, 'name') === 'AbortError';
}

/** What browsers say of a request that got no answer. */
export function isNetworkFailure(thrown: unknown): boolean {
  return (
    read(thrown, 'name') === 'TypeError' &&
    /^(?:Failed to fetch|network error|NetworkError |Load failed)/.test(String(read(thrown, 'message')))
  );
}
