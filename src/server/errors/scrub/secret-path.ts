import { DEV_PREFIX } from '../../../shared/develop-protocol.ts';
import { DATA_PREFIX } from '../../../shared/wire/protocol.ts';
import { remember } from '../../request/bounded-map.ts';
import { decodePercent, withDecoded } from '../../request/paths.ts';
import type { Scrubber } from '../scrub.ts';
import { cutText } from '../trim.ts';
import { REDACTED } from './redact.ts';

/** How many routes are remembered (count). */
const MAX_REMEMBERED_ROUTES = 1000;

/** Redacts the secrets in a path, by the route's pattern if it is known, and cuts the path. */
export type ScrubPath = (path: string, route: string | undefined) => string;

export function createPathScrubber(scrubber: Scrubber): ScrubPath {
  const hasSecret = remember(
    (route) => route.split('/').some((part) => hidesPart(part, scrubber)),
    MAX_REMEMBERED_ROUTES,
  );
  const scrubRoute = remember((route) => cutText(scrubber.url(route)), MAX_REMEMBERED_ROUTES);
  // Each request asks twice, and most are answered before the next one begins.
  let last = { path: '', scrubbed: '' };
  return function scrubPath(path, route = '') {
    if (path === route) return scrubRoute(route);
    const hidden = hasSecret(route) ? hidePathSecrets(path, route, scrubber) : path;
    // A path can be 8 KiB long, and a flood of such lines would fill a disk.
    if (hidden !== last.path) last = { path: hidden, scrubbed: cutText(scrubber.url(hidden)) };
    return last.scrubbed;
  };
}

/** Redacts the values of parameters with a secret name, such as `/reset/:token`. */
export function hidePathSecrets(url: string, route: string | undefined, scrubber: Pick<Scrubber, 'hides'>): string {
  const { segments, hidden, rest } = findHidden(url, route, scrubber);
  if (hidden.length === 0) return url;
  return segments.map((segment, index) => (hidden.includes(index) ? REDACTED : segment)).join('/') + rest;
}

/** Lists those values. */
export function listPathSecrets(url: string, route: string | undefined, scrubber: Pick<Scrubber, 'hides'>): string[] {
  const { segments, hidden } = findHidden(url, route, scrubber);
  return hidden.map((index) => segments[index] ?? '').flatMap(withDecoded);
}

/**
 * Makes patterns for the scrubber that match a parameter with a secret name after the fixed parts of its route. They
 * are needed because URLs of pages also appear in referers, breadcrumbs and messages. A path is matched only from its
 * start, because `/shared/:token` says nothing about the file `src/shared/product/x.js`. A parameter without a fixed
 * part before it can only be recognized by its position in the path.
 *
 * @param routes patterns of pages (`/reset/:token`)
 */
export function listPathPatterns(routes: readonly string[], scrubber: Pick<Scrubber, 'hides'>): RegExp[] {
  const places = routes.flatMap(listShapes).flatMap((parts) =>
    parts.flatMap((part, index) => {
      const before = parts.slice(0, index);
      return hidesPart(part, scrubber) && before.some(isFixed) ? [before.map(toSource).join('')] : [];
    }),
  );
  return [...new Set(places)].map((place) => new RegExp(`(?<=${START}${place})${SEGMENT}{1,1000}`, 'g'));
}

/** Lists the sequences of parts that a route matches: an optional part can be missing. */
function listShapes(route: string): string[][] {
  const parts = route.split('/').slice(1);
  return parts.reduceRight<string[][]>(
    (rests, part) => {
      const required = part.replace(/\?$/, '');
      const present = rests.map((rest) => [required, ...rest]);
      return required === part ? present : present.concat(rests);
    },
    [[]],
  );
}

function hidesPart(part: string, scrubber: Pick<Scrubber, 'hides'>): boolean {
  const name = /^:([\w-]+)/.exec(part)?.[1];
  return name !== undefined && scrubber.hides(name);
}

function isFixed(part: string): boolean {
  return /^[^:*]/.test(part);
}

/** A character of a path segment, in a URL within a text. */
const SEGMENT = `[^\\s/?#"'<>\\\\]`;

/** After a character that rarely ends a segment. In case of doubt, a path starts here: its secret matters more. */
const NO_SEGMENT = String.raw`(?<![\w.~@)\]}/-])`;

const HTTP = '[hH][tT]{2}[pP][sS]?:/';

/** `https://a.example`, `//a.example`, `https:/a.example`, which joining paths makes of it, and `https://` without a host. */
const ORIGIN = `(?:${NO_SEGMENT}//|${HTTP})${SEGMENT}{1,256}|${HTTP}/(?=/)`;

/** `a.example`, `127.0.0.1`, `localhost`, or a placeholder such as `{base}` and `[redacted]`; or any word with a port. */
const HOST_END = String.raw`(?:\.[a-zA-Z][\w-]{1,62}\.?|(?:\.\d{1,3}){3}|localhost|[)\]}]|(?=:\d))(?::\d{1,5})?`;

/** An origin without its scheme. Other words before a slash are folders of a file. */
const HOST = String.raw`(?<![\w.~@()[\]{}/-])[\w@.()[\]{}-]{0,255}${HOST_END}`;

/** After an escaped character (`\n`, `\u003d`, `%20`) or a colour of the terminal. Its last letter is not of a segment. */
const ESCAPED = String.raw`(?<=\\[a-z]|\\u[\da-fA-F]{4}|%(?:[013][\da-fA-F]|2[\da-cA-C])|\x1b\[[\d;]{0,20}m)`;

/** The start of a relative URL: nothing, or dots. In an absolute URL, dots can lead back to the start. */
const RELATIVE = String.raw`(?:${NO_SEGMENT}|${ESCAPED})[._-]{0,3}|(?<=/)\.{1,2}`;

/** The start of a path, its first slash or slashes (but not the ones in `https://`), and the prefix of page data. */
const START = `(?:${ORIGIN}|${HOST}|${RELATIVE})(?:(?<!:)/{1,2})?(?:${DATA_PREFIX})?/`;

/** Returns a pattern of a segment and the slash after it. No page is where the modules of development are. */
function toSource(part: string, index: number): string {
  if (isFixed(part)) return `${toSpellings(part)}/`;
  return `${index === 0 ? `(?!${DEV_PREFIX.slice(1)}/)` : ''}${SEGMENT}{1,200}/`;
}

/** In a URL, letters such as `ö` are usually encoded. */
function toSpellings(text: string): string {
  const spellings = new Set([text, encodeURI(text.toWellFormed())]);
  return `(?:${[...spellings].map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`;
}

interface Hidden {
  readonly segments: readonly string[];
  /** Indexes of the hidden segments. */
  readonly hidden: readonly number[];
  /** The query. */
  readonly rest: string;
}

const NONE: Hidden = { segments: [], hidden: [], rest: '' };

function findHidden(url: string, route: string | undefined, scrubber: Pick<Scrubber, 'hides'>): Hidden {
  if (!route?.includes(':')) return NONE;
  const end = url.indexOf('?');
  const path = end < 0 ? url : url.slice(0, end);
  const segments = path.split('/');
  // Page data is requested with the path of its page after a prefix.
  const isData = path.startsWith(`${DATA_PREFIX}/`) && !route.startsWith(DATA_PREFIX);
  const start = isData ? DATA_PREFIX.split('/').length : 1;
  const given = segments.slice(start, segments.at(-1) === '' ? -1 : undefined);
  const shapes = listShapes(route);
  const fitting = shapes.filter((parts) => fits(parts, given));
  // A route of Express can have another syntax, or lack its start. Its places are then the best guess.
  const used = fitting.length > 0 ? fitting : shapes.slice(0, 1);
  const hidden = given.flatMap((_, index) =>
    used.some((parts) => hidesPart(parts[index - countMissing(parts, given)] ?? '', scrubber)) ? [index + start] : [],
  );
  return { segments, hidden, rest: url.slice(path.length) };
}

/** Counts the segments in front of a route. One that ends with a wildcard is taken to be whole. */
function countMissing(parts: readonly string[], segments: readonly string[]): number {
  return parts.at(-1)?.startsWith('*') ? 0 : Math.max(0, segments.length - parts.length);
}

function fits(parts: readonly string[], segments: readonly string[]): boolean {
  return (
    parts.length === segments.length &&
    segments.every((segment, index) => {
      const part = parts[index] ?? '';
      return !isFixed(part) || part === segment || part === decodePercent(segment);
    })
  );
}
