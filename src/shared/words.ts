import { Day, Hour, KiB, MiB, Minute, Second } from './units.ts';

/** `just now`, `3 min ago`, `in 2 h`: one unit, rounded down. */
export function toAgo(at: number, now: number): string {
  const distance = Math.abs(now - at);
  if (distance < 5 * Second) return 'just now';
  const [unit, length] = UNITS.find(([, length]) => distance >= length) ?? ['s', Second];
  const words = `${Math.floor(distance / length)} ${unit}`;
  return at <= now ? `${words} ago` : `in ${words}`;
}

const UNITS = [
  ['d', Day],
  ['h', Hour],
  ['min', Minute],
] as const;

/** Formats in UTC, so that server, browser and colleagues elsewhere see the same: `2026-11-21 20:31:07 UTC`. */
export function toExactTime(at: number): string {
  const text = toIsoTime(at);
  return text === '' ? 'at an unknown time' : `${text.slice(0, 10)} ${text.slice(11, 19)} UTC`;
}

/** Returns an empty string for an invalid time. */
export function toIsoTime(at: number): string {
  return Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : '';
}

/** `640 ms`, `12.4 s`, `3 min 20 s`, `2 h 5 min`: rounded to the units shown. */
export function toDuration(ms: number): string {
  if (Math.round(ms) < Second) return `${Math.round(ms)} ms`;
  const tenths = Math.round(ms / 100);
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
  const rounded = Math.round(ms / Second) * Second;
  if (rounded < Hour) return join([Math.floor(rounded / Minute), 'min'], [(rounded % Minute) / Second, 's']);
  if (rounded < Day) return join([Math.floor(rounded / Hour), 'h'], [Math.floor((rounded % Hour) / Minute), 'min']);
  return join([Math.floor(rounded / Day), 'd'], [Math.floor((rounded % Day) / Hour), 'h']);
}

function join([large, name]: [number, string], [small, smallName]: [number, string]): string {
  return small > 0 ? `${large} ${name} ${small} ${smallName}` : `${large} ${name}`;
}

/** `1,234,567`, the same on every machine. */
export function toCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `1 visitor`, `2,000 visitors` */
export function toPlural(count: number, one: string, many = `${one}s`): string {
  return `${toCount(count)} ${count === 1 ? one : many}`;
}

/** `412 MiB` */
export function toMebibytes(bytes: number): string {
  return `${toCount(Math.round(bytes / 1024 / 1024))} MiB`;
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
  | 'unclean-death'
  | 'blocked-loop'
  | 'csp'
  | 'crash'
  | 'deprecation'
  | 'intervention';
