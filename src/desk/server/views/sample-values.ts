import type { BodyField } from '../../../server/errors/failure.ts';

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
