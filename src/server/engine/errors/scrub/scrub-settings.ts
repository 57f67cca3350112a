import { isFastPattern } from './is-fast-pattern.ts';

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
