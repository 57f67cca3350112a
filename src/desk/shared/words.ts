import { toErrorHint, toExactTime, toPlural } from '../../shared/words.ts';
import type { IncidentKind, MissedShape, OccurrenceShape, StatusShape } from './shapes.ts';

/** Advice on violations of the Content Security Policy, by the directive in the title. */
const POLICY_HINTS: readonly (readonly [directive: RegExp, hint: string])[] = [
  [
    /\b(?:require-trusted-types-for|trusted-types)\b/,
    'A script set HTML from a plain string, as dangerouslySetInnerHTML does. Sanitise the HTML and use a Trusted Types policy: docs/recipes/html.md shows how.',
  ],
  [
    /\bscript-src\S* eval/,
    'A script ran text as code (eval or new Function), which the policy blocks. If a library does so, look for its option or build without it.',
  ],
  [
    /\bscript-src/,
    "A script that is not part of this build was blocked. If it is yours, give it the page's nonce (docs/recipes/other-hosts.md). It can also come from a browser extension.",
  ],
  [/./, 'If the page needs this source, add it to contentSources in src/server/product/index.ts.'],
];

/** Fixes for component libraries, by the start of the blocked style. Some add an empty style and fill it later. */
const STYLE_HINTS: readonly (readonly [sample: RegExp, fix: string])[] = [
  [/\.css-|--mui-|^html\{-webkit-font/, 'It is probably from MUI or Emotion: give the nonce to createCache().'],
  [/mantine|\.__m/, 'It is probably from Mantine: set getStyleNonce of MantineProvider.'],
  [/data-radix|scroll-bars-hidden/, 'It is probably from Radix: set the nonce of Viewport.'],
  [/data-sonner/, 'It is probably from sonner: import its style sheet instead.'],
  [/^/, 'styled-components needs the nonce of StyleSheetManager, Emotion that of createCache().'],
];

interface Advised {
  readonly kind: IncidentKind;
  readonly title: string;
  readonly shown?: OccurrenceShape;
}

/** Returns advice on an incident, if its kind has any. */
export function toHint({ kind, title, shown }: Advised): string | undefined {
  if (kind !== 'csp') return toErrorHint(title);
  if (/\bstyle-src(?:-elem)? inline/.test(title)) {
    const [, sample = ''] = shown?.full?.extra.find(([name]) => name === 'sample') ?? [];
    const fix = STYLE_HINTS.find(([start]) => start.test(sample))?.[1];
    return `A style element without the page's nonce was blocked. ${fix} Static pages have no nonce and need staticStyle. See docs/recipes/component-libraries.md.`;
  }
  return POLICY_HINTS.find(([directive]) => directive.test(title))?.[1];
}

/** `until 2026-11-22 09:00:00 UTC`; empty if the state has no details. */
export function toStateDetail({ state, isForNext, ignoredUntil, ignoredUntilMore }: StatusShape): string {
  if (state === 'resolved') return isForNext ? 'in the next release' : '';
  if (state === 'ignored' && ignoredUntil !== undefined) return `until ${toExactTime(ignoredUntil)}`;
  if (state === 'ignored' && ignoredUntilMore !== undefined) {
    return `until it happens ${toPlural(ignoredUntilMore, 'more time', 'more times')} within an hour`;
  }
  return state === 'ignored' ? 'forever' : '';
}

/** Why a page shows another occurrence than the one in its URL. The text follows the digest. */
export const MISSED_WORDS: Readonly<Record<MissedShape['state'], string>> = {
  summary: 'was sampled out: only its row was kept. This is the nearest occurrence that was kept in full.',
  sampled: 'was sampled out: it was only counted. This is the nearest occurrence that was kept in full.',
  arriving:
    'may not be stored yet, because more failures are arriving. Reload the page in a moment. This is the latest occurrence that was kept in full.',
  unknown: 'is unknown or was deleted. This is the latest occurrence that was kept in full.',
};
