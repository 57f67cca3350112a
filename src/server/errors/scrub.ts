import { KiB } from '../../shared/units.ts';
import { MAX_SCRUBBED_LENGTH } from '../limits.ts';
import { decodePercent } from '../request/paths.ts';
import type { Breadcrumb } from '../request/request-info.ts';
import type { ErrorRecord, Failure, RequestRecord, StackFrame } from './failure.ts';
import { encodeForUrl, type KnownValues, NO_VALUES, REDACTED, redactShapes } from './scrub/redact.ts';
import { redactPairs } from './scrub/redact-pairs.ts';
import { scrubValue } from './scrub/scrub-value.ts';
import { createSecretKeys, type SecretKeys } from './scrub/secret-keys.ts';
import { cutAtWord } from './trim.ts';

/** How far a cut can move back to the end of a word: no token is longer (UTF-16 code units). */
const MAX_TOKEN_LENGTH = 4 * KiB;

/**
 * Different texts that are scrubbed for one report (UTF-16 code units); a part that is decoded counts again. A large report
 * has a third of it, and a sender can make each character cost 0.2 µs.
 */
const REPORT_BUDGET = 128 * KiB;
/** What each text costs in addition (UTF-16 code units): some 3 µs. A large report has 700 different texts. */
const TEXT_COST = 80;
/** Values of an object in a report (a count), because each name is searched too. */
const REPORT_NODES = 1000;

/** How often a query is decoded to find another URL in it (count). */
const MAX_DECODING = 3;

const QUERY_PAIR = /([?&#;])([^\s=&#;?"'<>]{1,200})=([^\s&#;"'<>]*)/g;

interface ScrubberOptions {
  /** Names of fields, headers and query keys, in addition to the usual ones. Case and separators do not matter. */
  readonly keys?: readonly string[];
  /** Other secrets, by shape, such as the product's customer or contract numbers. With the flag `g`. */
  readonly patterns?: readonly RegExp[];
}

/**
 * Removes secrets from everything that is journaled, logged or reported: credentials and keys by their shape, values
 * by their name, and known values in any place. E-mail addresses are removed too, because privacy is the default.
 * Addresses of machines remain, because without them failed connections cannot be explained. The replacement is
 * `[redacted]`. Nothing here throws.
 */
export interface Scrubber {
  /** Cuts a text after 16 Ki characters and appends `…`. URLs in it are decoded, and their queries scrubbed. */
  text(text: string): string;
  /** A URL, absolute or from its path on. */
  url(url: string): string;
  /** A copy as JSON of bounded size. Cycles, deep values and unreadable ones are replaced by a word. */
  value(value: unknown): unknown;
  /** Returns a scrubber that knows more secret values, such as those of the environment. */
  with(values: readonly string[]): Scrubber;
  /**
   * Returns the scrubber of one report, which knows the secret values of its request: the longest 128, if there are more.
   * After 128 Ki characters, or some 1,500 short texts, it replaces each further text by `[cut]`. An object has up to
   * 1,000 values.
   */
  forReport(values: readonly string[]): Scrubber;
  /** True for a name whose value is a secret. */
  hides(key: string): boolean;
  /** The same for a name in a query, where more names are secret (`code`, `ticket`). */
  hidesInQuery(key: string): boolean;
}

export function createScrubber({ keys, patterns = [] }: ScrubberOptions = {}): Scrubber {
  return buildScrubber({
    keys: createSecretKeys(keys),
    patterns,
    known: NO_VALUES,
    budget: Number.POSITIVE_INFINITY,
  });
}

interface Parts {
  readonly keys: SecretKeys;
  readonly patterns: readonly RegExp[];
  readonly known: KnownValues;
  readonly budget: number;
}

function buildScrubber({ keys, patterns, known, budget }: Parts): Scrubber {
  const done = new Map<string, string>();
  let left = budget;

  /** A report repeats most of its texts, such as names of fields and files. */
  function scrubOnce(text: string): string {
    if (budget === Number.POSITIVE_INFINITY) return scrubText(text);
    const scrubbed = done.get(text) ?? scrubText(text);
    done.set(text, scrubbed);
    return scrubbed;
  }

  function scrubText(text: string, depth = 0): string {
    const read = cut(text);
    left -= read.length + TEXT_COST;
    if (left < 0) return '[cut]';
    let rest = known.redact(read);
    if (rest.includes('%') && depth < MAX_DECODING) rest = decodePairs(rest, depth);
    rest = redactPairs(redactShapes(rest), keys);
    for (const pattern of patterns) rest = rest.replace(pattern, REDACTED);
    return rest;
  }

  /** Scrubs encoded values of a query or a fragment: often a value is another URL with its own query. */
  function decodePairs(text: string, depth: number): string {
    return text.replace(QUERY_PAIR, (pair, mark: string, name: string, value: string) => {
      if (value === '') return pair;
      if (keys.isSecretInQuery(decode(name))) return `${mark}${name}=${REDACTED}`;
      const inner = decodeValue(value);
      const clean = scrubText(inner, depth + 1);
      return clean === inner
        ? pair
        : `${mark}${name}=${encodeForUrl(clean).replaceAll(encodeForUrl(REDACTED), REDACTED)}`;
    });
  }

  const scrubber: Scrubber = {
    text: scrubOnce,
    // `data:` is followed by a file, not by an address.
    url: (url) => (/^data:/i.test(url) ? `${scrubOnce(url.slice(0, 100).replace(/,.*/s, ''))},…` : scrubOnce(url)),
    value: (value) => scrubValue(value, scrubber, budget === Number.POSITIVE_INFINITY ? undefined : REPORT_NODES),
    with: (values) => buildScrubber({ keys, patterns, known: known.with(values), budget }),
    forReport: (values) => buildScrubber({ keys, patterns, known: known.withRequest(values), budget: REPORT_BUDGET }),
    hides: keys.isSecret,
    hidesInQuery: keys.isSecretInQuery,
  };
  return scrubber;
}

/**
 * Removes secrets from a failure, except from its ids, digest, kind, build, release, route and location. Those come from
 * the engine, and a cookie that happens to equal one of them must not redact it.
 */
export function scrubFailure(failure: Failure, scrubber: Scrubber): Failure {
  const { title, errors, location, request, componentStack, breadcrumbs, tags, extra } = failure;
  return {
    ...failure,
    title: scrubber.text(title),
    errors: errors.map((error) => scrubError(error, scrubber)),
    // If the source is not known, the detail is taken from the message.
    location: location && { ...location, detail: scrubber.text(location.detail) },
    request: request && scrubRequest(request, scrubber),
    componentStack: componentStack && scrubber.text(componentStack),
    tags: tags && scrubTexts(tags, scrubber),
    // The newest first, because the budget of a report may end before the oldest.
    breadcrumbs: breadcrumbs
      ?.toReversed()
      .map((breadcrumb) => scrubBreadcrumb(breadcrumb, scrubber))
      .reverse(),
    extra: extra && (scrubber.value(extra) as Record<string, unknown>),
  };
}

function scrubError(error: ErrorRecord, scrubber: Scrubber): ErrorRecord {
  const { class: name, message, code, frames, members } = error;
  return {
    ...error,
    class: scrubber.text(name),
    message: scrubber.text(message),
    code: code && scrubber.text(code),
    members: members?.map((member) => scrubber.text(member)),
    frames: frames.map((frame) => scrubFrame(frame, scrubber)),
  };
}

/** Anyone can write a stack. But a bundle identifies the location, and a visitor's cookie must not redact it. */
function scrubFrame(frame: StackFrame, scrubber: Scrubber): StackFrame {
  const isOnlyBundle = /^(?:server|client)\/[^:]*$/.test(frame.file);
  return {
    ...frame,
    file: isOnlyBundle ? frame.file : scrubber.url(frame.file),
    function: scrubber.text(frame.function),
  };
}

/** The body contains only what was scrubbed when it was read. */
function scrubRequest({ url, headers, ...rest }: RequestRecord, scrubber: Scrubber): RequestRecord {
  return { ...rest, url: scrubber.url(url), headers: headers && scrubTexts(headers, scrubber) };
}

function scrubBreadcrumb(breadcrumb: Breadcrumb, scrubber: Scrubber): Breadcrumb {
  const { category, message, data } = breadcrumb;
  return {
    ...breadcrumb,
    category: scrubber.text(category),
    message: scrubber.text(message),
    data: data && (scrubber.value(data) as Breadcrumb['data']),
  };
}

function scrubTexts(texts: Readonly<Record<string, string>>, scrubber: Scrubber): Record<string, string> {
  return scrubber.value(texts) as Record<string, string>; // names and texts remain names and texts
}

function cut(text: string): string {
  return text.length <= MAX_SCRUBBED_LENGTH ? text : `${cutAtWord(text, MAX_SCRUBBED_LENGTH, MAX_TOKEN_LENGTH)}…`;
}

/** Decodes the value of a query. A proxy can have encoded what was encoded already, so that no pair is visible. */
function decodeValue(text: string): string {
  let read = decode(text);
  for (let times = 1; times < MAX_DECODING && !/[?&#]/.test(read) && /%[\da-f]{2}/i.test(read); times += 1)
    read = decode(read);
  return read;
}

function decode(text: string): string {
  return decodePercent(text.replaceAll('+', ' ')) ?? text;
}
