import { Day, Hour, Minute, Second } from '../units.ts';
import type { ArrivingShape, IncidentKind, IncidentState, MissedShape } from './shapes.ts';

/** Labels of the kinds, for lists and filters. */
export const KIND_WORDS: Readonly<Record<IncidentKind, string>> = {
  exception: 'Exception',
  hydration: 'Hydration mismatch',
  load: 'Asset not loaded',
  network: 'Network',
  timeout: 'Time-out',
  'script-error': 'Foreign script',
  'unclean-death': 'Process died',
  'blocked-loop': 'Loop blocked',
  csp: 'Policy violation',
  crash: 'Browser crash',
  deprecation: 'Deprecation',
  intervention: 'Intervention',
};

/** Advice on violations of the Content Security Policy, by the directive in the title. */
const POLICY_HINTS: readonly (readonly [directive: RegExp, hint: string])[] = [
  [
    /\b(?:require-trusted-types-for|trusted-types)\b/,
    'A script set HTML from a plain string, as dangerouslySetInnerHTML does. Sanitise the HTML and use a Trusted Types policy: docs/recipes/html.md shows how.',
  ],
  [
    /\bscript-src/,
    "A script that is not part of this build was blocked. If it is yours, give it the page's nonce (docs/recipes/extending.md). It can also come from a browser extension.",
  ],
  [/./, 'If the page needs this source, add it to contentSources in src/server/product/index.ts.'],
];

/** Returns advice on an incident, if its kind has any. */
export function toHint({ kind, title }: { readonly kind: IncidentKind; readonly title: string }): string | undefined {
  return kind === 'csp' ? POLICY_HINTS.find(([directive]) => directive.test(title))?.[1] : undefined;
}

export const STATE_WORDS: Readonly<Record<IncidentState, string>> = {
  open: 'Open',
  resolved: 'Resolved',
  ignored: 'Ignored',
};

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

/** `28,760 more arriving`, or an empty text. */
export function toArrivingWords({ count, hasMore }: ArrivingShape): string {
  if (count === 0) return hasMore ? 'More arriving' : '';
  return `${hasMore ? 'At least ' : ''}${toCount(count)} more arriving`;
}

/** `412 MiB` */
export function toMebibytes(bytes: number): string {
  return `${toCount(Math.round(bytes / 1024 / 1024))} MiB`;
}

/** Why a page shows another occurrence than the one in its URL. The text follows the digest. */
export const MISSED_WORDS: Readonly<Record<MissedShape['state'], string>> = {
  thin: 'was sampled out: only its row was kept. This is the nearest occurrence that was kept in full.',
  thinned: 'was sampled out: it was only counted. This is the nearest occurrence that was kept in full.',
  arriving:
    'may not be stored yet, because more failures are arriving. Reload the page in a moment. This is the latest occurrence that was kept in full.',
  unknown: 'is unknown or was deleted. This is the latest occurrence that was kept in full.',
};
