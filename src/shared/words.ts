import { KiB, MiB } from './units.ts';

/** Returns an empty string for an invalid time. */
export function toIsoTime(at: number): string {
  return Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : '';
}

/** The size of a limit: `999 bytes`, `100 KB`, `1 MB`, `2.5 MB`. Rounded down. */
export function toSize(bytes: number): string {
  if (bytes < KiB) return `${bytes} bytes`;
  return bytes < MiB ? `${Math.floor(bytes / KiB)} KB` : `${Math.floor((10 * bytes) / MiB) / 10} MB`;
}

/** Returns what to do about an error, by its class and message, if they say it. */
export function toErrorHint(title: string): string | undefined {
  return ERROR_HINTS.find(([start]) => start.test(title))?.[1];
}

const ERROR_HINTS: readonly (readonly [start: RegExp, hint: string])[] = [
  [
    /^ReferenceError: __(?:dirname|filename) is not defined/,
    'If a package needs it to read its own files, add the package to `external` in src/server/product/build.mjs.',
  ],
  [
    /^NonError: .*\bResponse \{/,
    'A thrown `Response` is not sent. Call `redirect()`, `notFound()` or another function that stops a request: docs/guide/03-guards.md.',
  ],
  [/^NonError: /, 'This is not an Error, so nothing knows where it was thrown. Throw `new Error(…)` instead.'],
  [
    /^ReferenceError: process is not defined/,
    'Browsers have no `process`. Let a loader return the settings that a page needs: docs/recipes/public-settings.md.',
  ],
  [
    /^ReferenceError: (?:window|document|location|navigator|localStorage|sessionStorage) is not defined/,
    'This code ran on the server. Move it to an effect or an event handler, which run only in browsers.',
  ],
  [
    /^ReferenceError: Cannot access '.+' before initialization/,
    'If that name is imported, two modules import each other. Move what both need into a third module.',
  ],
  [
    /^TypeError: .*\(reading 'VITE_/,
    'There is no `import.meta.env`. Let a loader return the settings that a page needs: docs/recipes/public-settings.md.',
  ],
];

/** The kinds of failures. */
export type FailureKind =
  | 'exception'
  | 'hydration'
  /** A chunk or a style sheet that did not load. */
  | 'load'
  | 'network'
  | 'timeout'
  | 'script-error'
  /** An exception outside of all requests, which ended the server. */
  | 'server-exit'
  | 'unclean-death'
  | 'blocked-loop'
  | 'csp'
  | 'crash'
  | 'deprecation'
  | 'intervention';
