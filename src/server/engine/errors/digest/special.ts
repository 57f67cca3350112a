// Failures whose stack does not show their cause. They have separate keys.

import type { ErrorRecord, FailureKind } from '../failure.ts';

const REACT_NUMBER = /^Minified React error #(\d{1,4});/;

/** React's errors for a mismatch between what the server sent and what the browser rendered. */
const HYDRATION_NUMBERS = new Set(['418', '421', '425']);
const HYDRATION = /^(?:Hydration failed because|Text content does not match server-rendered|A tree hydrated but)/;

/** React's wrappers around an error while hydrating; the failure is their cause. */
const WRAPPER_NUMBERS = new Set(['419', '422', '423']);
const WRAPPER =
  /^(?:There was an error while hydrating|The server could not finish this Suspense boundary|Switched to client rendering because)/;

const LOAD =
  /^(?:Failed to fetch dynamically imported module|error loading dynamically imported module|Importing a module script failed|Unable to preload CSS|Loading (?:CSS )?chunk )/i;

/** Error classes of bundlers, and of the engine's router. */
const LOAD_CLASSES = new Set(['ChunkLoadError', 'RouteLoadError']);

const NETWORK =
  /^(?:Failed to fetch|NetworkError when attempting to fetch resource|Load failed|fetch failed|Network request failed|The network connection was lost|The Internet connection appears to be offline)\.?(?: \([^)]{1,200}\))?$/;

/** Returns the number of a minified React error, whose message is left out in production. */
export function readReactNumber(message: string): string | undefined {
  return REACT_NUMBER.exec(message)?.[1];
}

/** True for an error that only wraps another: React's boundary, or the component stack that an SDK adds as a cause. */
export function isSynthetic({ class: name, message }: ErrorRecord): boolean {
  if (name.startsWith('React ErrorBoundary')) return true;
  return WRAPPER.test(message) || WRAPPER_NUMBERS.has(readReactNumber(message) ?? '');
}

/** Derives the kind of failure from an error's message. Not for errors that the application made itself. */
export function kindOf({ class: name, message, frames }: ErrorRecord): FailureKind {
  if (name === 'AbortError' || name === 'TimeoutError') return 'timeout';
  if (HYDRATION.test(message) || HYDRATION_NUMBERS.has(readReactNumber(message) ?? '')) return 'hydration';
  if (LOAD.test(message) || LOAD_CLASSES.has(name) || isLoadEvent(name, frames)) return 'load';
  if (name === 'TypeError' && NETWORK.test(message)) return 'network';
  if (/^(?:Uncaught )?Script error\.?$/.test(message) && frames.every(({ file }) => file === '')) return 'script-error';
  return 'exception';
}

/** True for the report of the page's first script about an element that did not load: a class, and no place. */
function isLoadEvent(name: string, frames: ErrorRecord['frames']): boolean {
  return name === 'LoadError' && frames.length === 0;
}
