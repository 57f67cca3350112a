/** The longest value (characters), and the most values (a count), that a page shows. */
const MAX_VALUE = 2000;
const MAX_PAIRS = 100;

/** Returns names and values of stored data as text. Nested values become JSON. */
export function toPairs(record: Readonly<Record<string, unknown>>): [name: string, value: string][] {
  return Object.entries(record)
    .slice(0, MAX_PAIRS)
    .map(([name, value]) => [toLine(name), toLine(typeof value === 'string' ? value : toJson(value))]);
}

/** Shortens a long text. */
export function toLine(text: string): string {
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}

/** The value was parsed from JSON, so it can be serialized. */
function toJson(value: unknown): string {
  return JSON.stringify(value) ?? '';
}
