import { inspect } from 'node:util';
import type { BodyField } from '#engine/tracker';
import { toClean } from './clean-text.ts';

// What visitors sent, as parts of a test that the desk writes.

/** Longest literal on one line (UTF-16 code units). */
const LONGEST_LITERAL = 100;

/**
 * Returns a path of the site under test. A stranger can report any URL, and a browser reads `//host` as another site. In
 * URLs of other schemes, paths can have backslashes, which a browser reads as slashes.
 */
export function toSitePath(url: string): string {
  const base = 'http://site.invalid';
  const given = URL.parse(url, base);
  const { pathname, search } = given && /^https?:$/.test(given.protocol) ? given : new URL(base);
  return `/${pathname.replace(/^\/+/, '')}${search}`;
}

/** True if scrubbing or a limit has removed a part. */
export function hasGap(text: string): boolean {
  return /\[redacted\]|%5Bredacted%5D|\u2026|%E2%80%A6/.test(text);
}

/** Writes a value as a literal. Escapes everything that could end a string or change how it looks. */
export function toLiteral(value: unknown): string {
  const breakLength = typeof value === 'string' ? Number.POSITIVE_INFINITY : LONGEST_LITERAL;
  return toClean(inspect(value, { breakLength, depth: null, maxStringLength: null, maxArrayLength: null }));
}

export function toComment(text: string): string {
  return `// ${toClean(text.replaceAll(/\s+/g, ' '))}`;
}

/** Values that most checks of a field accept, by its name. */
const SAMPLES: readonly (readonly [name: RegExp, value: string])[] = [
  [/e-?mail/i, 'someone@example.com'],
  [/url|link|website/i, 'https://example.com/'],
  [/date|day$|\bfrom$|until/i, '2026-01-31'],
  [/count|quantity|amount|number|price|total|year|age$|(?:^|_)id$|Id$/, '1'],
];

/**
 * Returns a value for a field whose own value was not recorded.
 *
 * @param guessed gets the names of the fields that have such a value
 */
export function sampleOf(field: BodyField, guessed: string[], name = ''): unknown {
  if (typeof field === 'object') {
    if ('value' in field) return field.value;
    if ('items' in field) return field.items.map((item) => sampleOf(item, guessed, name));
    return Object.fromEntries(
      Object.entries(field.fields).map(([key, inner]) => [
        key,
        sampleOf(inner, guessed, name ? `${name}.${key}` : key),
      ]),
    );
  }
  if (field === 'null') return null;
  guessed.push(name);
  if (field === 'number') return 1;
  if (field === 'boolean') return true;
  return SAMPLES.find(([pattern]) => pattern.test(name))?.[1] ?? 'text';
}
