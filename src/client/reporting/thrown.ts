// In the first load. Code that is only needed for judging is in `deliver-reports.ts`.

import { isControlFlow } from '../../shared/routing/control-flow.ts';

/** Reads a property of any value; undefined if there is none, or if reading it throws. */
export function read(value: unknown, name: string): unknown {
  try {
    return (Object(value) as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

/** True for a control-flow response, here or on the server, and for aborted work. */
export function isMeant(thrown: unknown): boolean {
  const kind = read(read(thrown, 'pageError'), 'kind') ?? 'failure';
  return isControlFlow(thrown) || kind !== 'failure' || read(thrown, 'name') === 'AbortError';
}

/** True for a browser's error about a request that got no response. */
export function isNetworkFailure(thrown: unknown): boolean {
  return (
    read(thrown, 'name') === 'TypeError' &&
    /^(?:Failed to fetch|network error|NetworkError |Load failed)/.test(String(read(thrown, 'message')))
  );
}

/** True for a browser's error about a module that did not load. */
export function isLoadFailure(thrown: unknown): boolean {
  return /dynamically imported module|^Importing a module/.test(String(read(thrown, 'message')));
}
