import { toCount } from '../words.ts';
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

/** `28,760 more arriving`, or an empty text. */
export function toArrivingWords({ count, hasMore }: ArrivingShape): string {
  if (count === 0) return hasMore ? 'More arriving' : '';
  return `${hasMore ? 'At least ' : ''}${toCount(count)} more arriving`;
}

/** Why a page shows another occurrence than the one in its URL. The text follows the digest. */
export const MISSED_WORDS: Readonly<Record<MissedShape['state'], string>> = {
  thin: 'was sampled out: only its row was kept. This is the nearest occurrence that was kept in full.',
  thinned: 'was sampled out: it was only counted. This is the nearest occurrence that was kept in full.',
  arriving:
    'may not be stored yet, because more failures are arriving. Reload the page in a moment. This is the latest occurrence that was kept in full.',
  unknown: 'is unknown or was deleted. This is the latest occurrence that was kept in full.',
};
