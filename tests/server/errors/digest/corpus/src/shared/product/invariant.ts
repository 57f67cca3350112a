export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) {
    throw new Error(`Invariant failed: ${message}`);
  }
}

export function assertDefined<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new TypeError(`${what} is not there.`);
  return value;
}
