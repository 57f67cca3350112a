import type { Request, RequestHandler } from 'express';
import { DATA_PREFIX } from '../../shared/wire/protocol.ts';
import { type RequestInfo, requestInfo } from './request-info.ts';

/** Returns undefined for a broken escape, and for bytes that are not UTF-8. */
export function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Returns the text as it is, and decoded. */
export function withDecoded(text: string): string[] {
  return [text, decodePercent(text) ?? text];
}

/** Refusals of a path, and of a query. */
export const UNENCODED = 'The address has a character that must be percent-encoded.';
export const BADLY_ENCODED = 'The address has a malformed or forbidden percent-encoding.';

/** The result for a request's path: its only spelling, or a sentence for the caller. */
export type Spelling = { readonly path: string } | { readonly refusal: string };

/**
 * Gives each path one spelling, so that no later step sees another: an access check for `/admin` cannot be bypassed
 * with `/%61dmin`, `//admin` or `/x/../admin`. A path that another program on the way could read as a different one is
 * refused (dot segments, doubled and encoded slashes, backslashes, encoded dots). A path that is only written
 * differently (`%61`, `%c3%a9`, `%40`) is rewritten.
 */
export function spellPath(raw: string): Spelling {
  if (SPELT.test(raw) && !raw.includes('//') && !DOT_SEGMENT.test(raw)) return { path: raw };
  if (/[^\x21-\x7e]|#/.test(raw)) return { refusal: UNENCODED };
  if (!raw.startsWith('/')) return { refusal: 'The address must start with a slash.' };
  if (raw.includes('//') || raw.includes('\\')) return { refusal: 'The address has a doubled slash or a backslash.' };
  if (/%(?:2f|5c|2e)/i.test(raw)) return { refusal: 'The address has an encoded slash, backslash or dot.' };
  if (DOT_SEGMENT.test(raw)) return { refusal: 'The address has a dot segment.' };
  const decoded = decodePercent(raw);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
  if (decoded === undefined || /[\u0000-\u001f\u007f-\u009f]/.test(decoded)) {
    return { refusal: BADLY_ENCODED };
  }
  return { path: encodePath(decoded) };
}

/** The spelling that requests have of a path in the source, such as `/größe`. */
export function toSpelling(path: string): string {
  const spelling = spellPath(encodeURI(path));
  return 'path' in spelling ? spelling.path : path;
}

/** Characters that need no encoding in a path, with single slashes. */
const SPELT = /^(?:\/[A-Za-z0-9\-._~!$&'()*+,;=:@]*)+$/;
const DOT_SEGMENT = /\/\.{1,2}(?:\/|$)/;

/** Nested encodings that are decoded (count). Ordinary URLs have up to two. */
const MAX_LEVELS = 4;

/**
 * Lists all readings of a path: undecoded, decoded once, twice, and so on, each with doubled slashes and
 * backslashes replaced by one slash. The last reading cannot be decoded further.
 *
 * @returns undefined for dot segments, control characters and too many levels of encoding
 */
export function readPath(raw: string): readonly string[] | undefined {
  const readings: string[] = [];
  let text = raw;
  while (readings.length < MAX_LEVELS) {
    const collapsed = text.replace(/[\\/]+/g, '/');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
    if (!text.startsWith('/') || DOT_SEGMENT.test(collapsed) || /[\u0000-\u001f\u007f-\u009f]/.test(text)) {
      return undefined;
    }
    readings.push(encodePath(collapsed));
    const decoded = decodeLoosely(text);
    if (decoded === text) return readings;
    text = decoded;
  }
  return undefined;
}

/** Leaves a broken escape unchanged. Bytes that are not UTF-8 become U+FFFD. */
function decodeLoosely(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'));
}

/** RFC 3986 section 3.3: `pchar` is kept, everything else is encoded, in upper case. */
function encodePath(decoded: string): string {
  return encodeURIComponent(decoded).replace(/%(?:2F|24|26|2B|2C|3B|3D|3A|40)/g, decodeURIComponent);
}

/**
 * Whether a request is for this path or one below it, as an Express app matches it: case does not matter, nor does a
 * slash at the end. For steps that guard routes or an existing app: `isBelow(request, '/admin')` is true for
 * `/Admin/users` and false for `/administrator`.
 *
 * @param path as it is read, such as `/größe`
 */
export function isBelow({ baseUrl, path: own }: Request, path: `/${string}`): boolean {
  return toComparable(baseUrl + own).startsWith(toComparable(toSpelling(path)));
}

function toComparable(path: string): string {
  return (path.endsWith('/') ? path : `${path}/`).toLowerCase();
}

/** Ignores case, because Express and React Router do so when they match. */
export function isApiPath(path: string): boolean {
  return /^\/api(?:\/|$)/i.test(path);
}

/** Returns a function that tells whether a path belongs to the tracker. It ignores case for the same reason. */
export function createOwnsPath(tracker: { readonly paths: readonly string[] } | undefined): (path: string) => boolean {
  if (!tracker) return () => false;
  const own = new RegExp(`^(?:${tracker.paths.map(RegExp.escape).join('|')})(?:/|$)`, 'i');
  return (path) => own.test(path);
}

/** What probes and scrapers request, every second. */
export const PROBE_PATHS = ['/livez', '/readyz', '/metrics'] as const;

const TAKEN = new RegExp(`^(?:/api|${DATA_PREFIX}|/_dev|/_check|${PROBE_PATHS.join('|')})(?:/|$)`, 'i');

/** Paths that Spillway reserves (the table in `docs/recipes/existing-app.md`). */
export function isTakenPath(path: string): boolean {
  return TAKEN.test(path);
}

/**
 * Creates a predicate for paths at which no page can be reached. Pages below `/api` can.
 *
 * @param exact more paths that the server answers
 * @param below more paths that it answers with everything below them
 */
export function createIsUnreachable(exact: readonly string[], below: readonly string[]): (path: string) => boolean {
  const paths = new Set<string>([...PROBE_PATHS, ...exact]);
  const isBelow = createOwnsPath({ paths: [DATA_PREFIX, ...below] });
  return (path) => paths.has(path) || isBelow(path);
}

/**
 * Returns the page's own URL from that of its page data, with or without a query; `undefined` for any other URL.
 *
 * @param base the path that all pages of the app share (`/admin`), empty for none
 */
export function toPageUrl(url: string, base = ''): string | undefined {
  const prefix = base + DATA_PREFIX;
  if (!url.startsWith(prefix)) return undefined;
  const rest = url.slice(prefix.length);
  if (rest === '' || rest.startsWith('?')) return `${base || '/'}${rest}`;
  return rest.startsWith('/') ? base + rest : undefined;
}

/**
 * Whether one of the engine's links fetches page data ahead of a click. The answer is shown only if it did not fail.
 *
 * @param page the path of the page, if it is known
 */
export function isLinkPrefetch({ headers = {}, path }: RequestInfo, page = toPageUrl(path)): boolean {
  // While the browser prerenders a page, its requests have `Sec-Purpose`, and what they got is shown later.
  const isOurs = headers.purpose === 'prefetch' && headers['sec-purpose'] === undefined;
  return isOurs && page !== undefined && page !== path;
}

/** A router costs each page as much as several steps. */
export function onlyFor(covers: (path: string) => boolean, handle: RequestHandler): RequestHandler {
  return (req, res, next) => (covers(requestInfo(req).path) ? handle(req, res, next) : next());
}
