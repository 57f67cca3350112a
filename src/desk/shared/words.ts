import { Day, Hour, Minute, Second } from '../../shared/units.ts';
import { toErrorHint, toIsoTime } from '../../shared/words.ts';
import { STATE_WORDS } from './choices.ts';
import type { ComponentShape, IncidentKind, MissedShape, OccurrenceShape, StatusShape } from './shapes.ts';

/** Advice on violations of the Content Security Policy, by the directive in the title. */
const POLICY_HINTS: readonly (readonly [directive: RegExp, hint: string])[] = [
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

/** Advice on text that Trusted Types do not accept, by the start of its sample: what was set, and the text. */
const TEXT_HINTS: readonly (readonly [sample: RegExp, hint: string])[] = [
  [
    /^HTMLScriptElement src/,
    'A script was inserted with a URL that no Trusted Types policy has checked. Use loadScript() of docs/recipes/other-hosts.md.',
  ],
  [
    // A rule of CSS, and not JSON.
    /^[^|]*\|(?!\s*(?:\[\s*)?[{"])[^<]*\{/,
    'A component library set styles as HTML. It needs the Trusted Types policy of docs/recipes/component-libraries.md.',
  ],
  [
    /^/,
    'A script set HTML from a plain string, as dangerouslySetInnerHTML does. Sanitise the HTML and use a Trusted Types policy: docs/recipes/html.md shows how.',
  ],
];

const POLICY_NAME_HINT =
  'A script made a Trusted Types policy whose name is not allowed. If it is yours, add the name to contentSources.trustedTypes in src/server/product/index.ts.';

interface Advised {
  readonly kind: IncidentKind;
  readonly title: string;
  readonly shown?: OccurrenceShape;
}

/** Returns advice on an incident, if its kind has any. */
export function toHint({ kind, title, shown }: Advised): string | undefined {
  const nesting = kind === 'hydration' ? toNestingHint(shown?.full?.components ?? []) : undefined;
  if (kind !== 'csp') return nesting ?? toErrorHint(title);
  const [, sample = ''] = shown?.full?.extra.find(([name]) => name === 'sample') ?? [];
  if (/\btrusted-types-policy\b/.test(title)) return POLICY_NAME_HINT;
  if (/\btrusted-types\b/.test(title)) return TEXT_HINTS.find(([start]) => start.test(sample))?.[1];
  if (/\bstyle-src(?:-elem)? inline/.test(title)) {
    const fix = STYLE_HINTS.find(([start]) => start.test(sample))?.[1];
    return `A style element without the page's nonce was blocked. ${fix} Static pages have no nonce and need staticStyle. See docs/recipes/component-libraries.md.`;
  }
  return POLICY_HINTS.find(([directive]) => directive.test(title))?.[1];
}

const ENDS_PARAGRAPH =
  /^(?:article|aside|blockquote|div|dl|fieldset|figure|footer|form|h[1-6r]|header|main|nav|ol|p|pre|section|table|ul)$/;

/** @param components innermost first. The place of an element is empty */
function toNestingHint(components: readonly ComponentShape[]): string | undefined {
  const elements = components.filter(({ place }) => place === '').map(({ name }) => name);
  for (const [index, inner] of elements.entries()) {
    const around = elements.slice(index + 1);
    const outer = around.find(
      (name, depth) =>
        name === 'button' || // a button can contain both
        (name === 'p' && ENDS_PARAGRAPH.test(inner)) ||
        (name === inner && /^(?:a|form)$/.test(name)) ||
        (name === 'table' && inner === 'tr' && depth === 0),
    );
    if (outer && (outer !== 'button' || inner === 'button'))
      return `<${inner}> cannot be in <${outer}>: a browser that parses the page moves it, so React finds other elements.`;
  }
  return undefined;
}

/** A regression is an open incident that needs another word. */
export function toStateWord({ state, isRegression }: StatusShape): string {
  return state === 'open' && isRegression ? 'Regression' : STATE_WORDS[state];
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
