/** Returns names and values of stored data as text. Nested values become JSON. */
export function toPairs(record: Readonly<Record<string, unknown>>): [name: string, value: string][] {
  return Object.entries(record).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
}
