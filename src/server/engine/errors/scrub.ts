import { KiB } from '../../../shared/units.ts';
import { decodePercent } from '../request/decode-percent.ts';
import { cutAtWord } from './cut-at-word.ts';
import { scrubValue } from './scrub/scrub-value.ts';
import { createSecretKeys, type SecretKeys } from './scrub/secret-keys.ts';
import { redactPairs } from './scrub/secret-pairs.ts';
import { REDACTED, redactShapes } from './scrub/secret-patterns.ts';

/** The part of a text that is read and kept (UTF-16 code units), so that a megabyte costs no more than a page. */
export const MAX_SCRUBBED_LENGTH = 16 * KiB;

/** Shorter values also occur in harmless words, so only their names identify them (UTF-16 code units). */
const MIN_LITERAL_LENGTH = 8;

/** How far a cut can move back to the end of a word: no token is longer (UTF-16 code units). */
const MAX_WORD_LENGTH = 4 * KiB;

/** How often a query is decoded to find another URL in it (count). */
const MAX_DECODING = 3;

const QUERY_PAIR = /([?&#;])([^\s=&#;?"'<>]{1,200})=([^\s&#;"'<>]*)/g;

export interface ScrubberOptions {
  /** Names of fields, headers and query keys, in addition to the usual ones. Case and separators do not matter. */
  readonly keys?: readonly string[];
  /** Other secrets, by shape, such as the product's customer or contract numbers. */
  readonly patterns?: readonly RegExp[];
  /** Values that are secret in any place, such as those of the environment; at least 8 characters long. */
  readonly literals?: readonly string[];
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
  /** Returns a scrubber that knows more secret values, such as those of one request. */
  with(literals: readonly string[]): Scrubber;
  /** True for a name whose value is a secret. */
  hides(key: string): boolean;
  /** The same for a name in a query, where more names are secret (`code`, `ticket`). */
  hidesInQuery(key: string): boolean;
}

export function createScrubber({ keys, patterns = [], literals = [] }: ScrubberOptions = {}): Scrubber {
  return buildScrubber(createSecretKeys(keys), patterns.map(toGlobal), toLiterals(literals));
}

function buildScrubber(keys: SecretKeys, patterns: readonly RegExp[], literals: readonly string[]): Scrubber {
  function scrubText(text: string, depth = 0): string {
    let rest = cut(text);
    for (const literal of literals) rest = rest.replaceAll(literal, REDACTED);
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
      const inner = decode(value);
      const clean = scrubText(inner, depth + 1);
      return clean === inner ? pair : `${mark}${name}=${encode(clean).replaceAll(encode(REDACTED), REDACTED)}`;
    });
  }

  const scrubber: Scrubber = {
    text: (text) => scrubText(text),
    // `data:` is followed by a file, not by an address.
    url: (url) => (/^data:/i.test(url) ? `${scrubText(url.slice(0, 100).replace(/,.*/s, ''))},…` : scrubText(url)),
    value: (value) => scrubValue(value, scrubber),
    with(more) {
      const added = toLiterals(more);
      return added.length === 0 ? scrubber : buildScrubber(keys, patterns, longestFirst([...added, ...literals]));
    },
    hides: keys.isSecret,
    hidesInQuery: keys.isSecretInQuery,
  };
  return scrubber;
}

function cut(text: string): string {
  return text.length <= MAX_SCRUBBED_LENGTH ? text : `${cutAtWord(text, MAX_SCRUBBED_LENGTH, MAX_WORD_LENGTH)}…`;
}

/** Adds the spellings of each literal in URLs and in JSON. */
function toLiterals(literals: readonly string[]): string[] {
  const spellings = literals
    .map((literal) => literal.trim())
    .filter((literal) => literal.length >= MIN_LITERAL_LENGTH && !REDACTED.includes(literal))
    .flatMap((literal) => [literal, encode(literal), JSON.stringify(literal).slice(1, -1)]);
  return longestFirst([...new Set(spellings)]);
}

/** Sorts so that no rest of a longer literal remains. */
function longestFirst(literals: string[]): string[] {
  return literals.sort((one, other) => other.length - one.length);
}

function toGlobal(pattern: RegExp): RegExp {
  return new RegExp(pattern.source, pattern.flags.includes('g') ? pattern.flags : `${pattern.flags}g`);
}

function decode(text: string): string {
  return decodePercent(text.replaceAll('+', ' ')) ?? text;
}

/** A lone surrogate cannot be encoded in a URL. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
