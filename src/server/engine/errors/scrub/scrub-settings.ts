import { runInNewContext } from 'node:vm';
import { MAX_SCRUBBED_LENGTH } from '../scrub.ts';

/** How long a pattern can take on all of the texts that are made to slow it down (ms). A usual one needs 5. */
const PATTERN_TIME = 500;

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
 *
 * @param patternTime how long one pattern can take (ms)
 */
export function parseScrubPatterns(text: string, patternTime = PATTERN_TIME): RegExp[] | undefined {
  const patterns: RegExp[] = [];
  let rest = text.trim();
  while (rest !== '') {
    const literal = LITERAL.exec(rest);
    const pattern = literal && toPattern(literal[1] ?? '', literal[2] ?? '');
    if (!pattern || patterns.length === MAX_PATTERNS || !isFast(pattern, patternTime)) return undefined;
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

/** Tries the pattern on its own parts, repeated many times so that it almost matches. Node stops it if it is slow. */
function isFast(pattern: RegExp, timeout: number): boolean {
  const made = [
    ...new Set(pattern.source.match(/[\p{L}\p{N}]+/gu) ?? []),
    ...new Set(pattern.source),
    'a',
    'A',
    '0',
    ' ',
    '-',
    '.',
    'a1',
  ];
  const texts = made.map(
    (part) => `${part.repeat(Math.ceil(MAX_SCRUBBED_LENGTH / part.length)).slice(0, MAX_SCRUBBED_LENGTH)}\0`,
  );
  try {
    runInNewContext('for (const text of texts) text.replace(pattern, "")', { pattern, texts }, { timeout });
    return true;
  } catch {
    return false;
  }
}
