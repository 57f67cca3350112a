/** Reads a property of any value; undefined if there is none, or if reading it throws. */
export function readProperty(value: unknown, name: string): unknown {
  try {
    return (Object(value) as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}
