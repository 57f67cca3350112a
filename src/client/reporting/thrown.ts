// In the first load. Code that is only needed for judging is in `deliver-reports.ts`.

import { readProperty } from '../../shared/reporting/read-property.ts';
import { isControlFlow } from '../../shared/routing/control-flow.ts';

/** True for a control-flow response, here or on the server, and for aborted work. */
export function isMeant(thrown: unknown): boolean {
  const kind = readProperty(readProperty(thrown, 'pageError'), 'kind') ?? 'failure';
  return isControlFlow(thrown) || kind !== 'failure' || readProperty(thrown, 'name') === 'AbortError';
}

/** True for a browser's error about a request that got no response. */
export function isNetworkFailure(thrown: unknown): boolean {
  return (
    readProperty(thrown, 'name') === 'TypeError' &&
    /^(?:Failed to fetch|network error|NetworkError |Load failed)/.test(String(readProperty(thrown, 'message')))
  );
}

/** True for a browser's error about a module that did not load. */
export function isLoadFailure(thrown: unknown): boolean {
  return /dynamically imported module|^Importing a module/.test(String(readProperty(thrown, 'message')));
}
