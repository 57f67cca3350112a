import { KiB } from '../../../shared/units.ts';
import { decodePercent } from '../request/decode-percent.ts';
import { cutAtWord } from './cut-at-word.ts';
import { scrubValue } from './scrub/scrub-value.ts';
import { createSecretKeys, type SecretKeys } from './scrub/secret-keys.ts';
import { redactPairs } from './scrub/secret-pairs.ts';
import { REDACTED, redactShapes } from './scrub/secret-patterns.ts';

/** What of a text is read and kept (UTF-16 code units), so that a megabyte costs no more than a page. */
export const MAX_SCRUBBED_LENGTH = 16 * KiB;

/** A shorter value is found in innocent words; it goes by its name alone (UTF-16 code units). */
const MIN_LITERAL_LENGTH = 8;

/** How far back a cut goes to the end of a word: no token is longer (UTF-16 code units). */
const MAX_WORD_LENGTH = 4 * KiB;

/** How often a query is decoded to find another address in it (a count). */
const MAX_DECODING = 3;

const QUERY_PAIR = /([?&#;])([^\s=&#;?"'<>]{1,200})=([^\s&#;"'<>]*)/g;

export interface ScrubberOptions {
  /** Names of fields, headers and query keys, beside the usual ones. Case and separators do not matter. */
  readonly keys?: readonly string[];
  /** What else is a secret, by shape: the owner's own numbers of customers or contracts. */
  readonly patterns?: readonly RegExp[];
  /** Values that are secrets wherever they stand, such as those of the environment; of 8 and more characters. */
  readonly literals?: readonly string[];
}

/**
 * Takes secrets out of whatever is journaled, logged or reported: credentials and keys by their
 * shape, values by the name that they go under, and known values wherever they stand. E-mail
 * addresses go too, for privacy is the default; addresses of machines stay, for without them no
 * failed connection can be understood. `[redacted]` stands in. Nothing here throws.
 */
export interface Scrubber {
  /** Past 16 Ki characters a text is cut with `…`. Addresses in it are read too, with what their queries hold. */
  text(text: string): string;
  /** An address, whole or from its path on. */
  url(url: string): string;
  /** A copy like JSON, of bounded size: cycles, depth and what cannot be read are named in words. */
  value(value: unknown): unknown;
  /** The same, which knows more secret values: those of one request. */
  with(literals: readonly string[]): Scrubber;
  /** A name whose value is a secret. */
  hides(key: string): boolean;
  /** The same of a name in a query, where more of them are (`code`, `ticket`). */
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

  /** What is encoded in a query or a fragment: often another address, with a query of its own. */
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
    // After `data:` follows a file, not an address.
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

/** Also as they are written in addresses and in JSON. */
function toLiterals(literals: readonly string[]): string[] {
  const spellings = literals
    .map((literal) => literal.trim())
    .filter((literal) => literal.length >= MIN_LITERAL_LENGTH && !REDACTED.includes(literal))
    .flatMap((literal) => [literal, encode(literal), JSON.stringify(literal).slice(1, -1)]);
  return longestFirst([...new Set(spellings)]);
}

/** So that no rest of a longer one is left. */
function longestFirst(literals: string[]): string[] {
  return literals.sort((one, other) => other.length - one.length);
}

function toGlobal(pattern: RegExp): RegExp {
  return new RegExp(pattern.source, pattern.flags.includes('g') ? pattern.flags : `${pattern.flags}g`);
}

function decode(text: string): string {
  return decodePercent(text.replaceAll('+', ' ')) ?? text;
}

/** A lone surrogate has no spelling in an address. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
