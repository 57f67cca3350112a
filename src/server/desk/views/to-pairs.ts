/** Longest value, and the most of them, that a page shows (characters, a count). */
const MAX_VALUE = 2000;
const MAX_PAIRS = 100;

/** Names and values of whatever was stored, as text: what is nested as JSON. */
export function toPairs(record: Readonly<Record<string, unknown>>): [name: string, value: string][] {
  return Object.entries(record)
    .slice(0, MAX_PAIRS)
    .map(([name, value]) => [toLine(name), toLine(typeof value === 'string' ? value : toJson(value))]);
}

/** Cut where it is longer than anybody reads. */
export function toLine(text: string): string {
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}

/** What came out of JSON goes back into it. */
function toJson(value: unknown): string {
  return JSON.stringify(value) ?? '';
}
