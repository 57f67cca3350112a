import { createContext, Script } from 'node:vm';
import { readProperty } from '../../../shared/reporting/read-property.ts';
import { Second } from '../../../shared/units.ts';
import { MAX_SCRUBBED_LENGTH } from '../../limits.ts';

/** Maximum number of patterns (count), and length of one (characters). */
const MAX_PATTERNS = 50;
const MAX_PATTERN_LENGTH = 500;

/** Sentences that follow the name of the setting. */
export const SCRUB_KEYS_SENTENCE =
  'contains an invalid name. Use names of fields, headers or query keys, separated by commas, such as patient_id,customer number. Letters, digits, spaces and . _ - are allowed, up to 100 a name.';
export const SCRUB_PATTERNS_SENTENCE =
  'contains an invalid pattern: it is not a regular expression between slashes, matches the empty text, or takes too long on a long text. Use expressions separated by commas, such as /KD-\\d{8}/i, and avoid repetitions within repetitions.';

/** Returns undefined if a name is not valid. An empty text has no names. */
export function parseScrubKeys(text: string): string[] | undefined {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return names.every((name) => /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,99}$/u.test(name)) ? names : undefined;
}

/**
 * Reads `/KD-\d{8}/i, /[/,]x/`. Returns undefined if a pattern is not a regular expression, matches everywhere, or is
 * too slow: visitors influence the texts that it runs on.
 */
export function parseScrubPatterns(text: string): RegExp[] | undefined {
  const patterns: RegExp[] = [];
  let rest = text.trim();
  while (rest !== '') {
    const literal = LITERAL.exec(rest);
    const pattern = literal && toPattern(literal[1] ?? '', literal[2] ?? '');
    if (!pattern || patterns.length === MAX_PATTERNS || !isFastPattern(pattern)) return undefined;
    patterns.push(pattern);
    rest = rest.slice(literal[0].length).trimStart();
  }
  return patterns;
}

/** As in JavaScript: a slash ends it, except after a backslash or within a class. A comma or the end follows. */
const LITERAL = /^\/((?:[^/\\[\r\n]|\\.|\[(?:[^\]\\\r\n]|\\.)*\])+)\/([a-z]{0,8})\s*(?:,|$)/;

function toPattern(source: string, flags: string): RegExp | undefined {
  if (source.length > MAX_PATTERN_LENGTH || /[^dimsuv]/.test(flags)) return undefined;
  try {
    const pattern = new RegExp(source, flags);
    return pattern.test('') ? undefined : new RegExp(source, `${flags}g`);
  } catch {
    return undefined;
  }
}

/** CPU time for one text (ms). A usual pattern needs 0.1, and one with quadratic time more than 100. */
const MAX_TIME = 50;

/** Ends a pattern with exponential time (ms). */
const PATTERN_TIME = Second;

const REPLACE = new Script('text.replace(pattern, "")');

/**
 * Tries a pattern on its own characters and words, repeated so that they almost match. If its time grows faster than the
 * text, one of them takes too long, and visitors could send such a text to stop the server.
 */
function isFastPattern(pattern: RegExp): boolean {
  const context = createContext({ pattern });
  const characters = ['A', '0', ' ', '-', '.', ...pattern.source];
  const words = pattern.source.replace(/\\\w/g, ' ').match(/\w+/g) ?? [];
  const pairs = [...characters.map((character) => `${character}a`), ...words.map((word) => `${word}-`)];
  const fragments = new Set(['a', 'a1', ...characters, ...words, ...pairs]);

  function isFast(fragment: string): boolean {
    context.text = `${fragment.repeat(MAX_SCRUBBED_LENGTH / fragment.length)}\0`;
    const before = process.threadCpuUsage(); // other processes can use most of the machine
    REPLACE.runInContext(context, { timeout: PATTERN_TIME });
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000 < MAX_TIME;
  }

  try {
    return [...fragments].every((fragment) => isFast(fragment) || isFast(fragment)); // the first time, it can be compiled
  } catch (error) {
    if (readProperty(error, 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
}
