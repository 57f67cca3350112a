/** A map that drops the key that was set longest ago for a new one too many, because strangers make up any number. */
export class BoundedMap<Value> extends Map<string, Value> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override set(key: string, value: Value): this {
    this.delete(key);
    const [oldest] = this.size < this.#most ? [] : this.keys();
    if (oldest !== undefined) this.delete(oldest);
    return super.set(key, value);
  }
}

/**
 * Returns a function that remembers what it made for the last keys.
 *
 * @param most how many keys are remembered (a count)
 * @param longest longer keys are not remembered (UTF-16 code units)
 */
export function remember<Value>(
  make: (key: string) => Value,
  most: number,
  longest = Number.POSITIVE_INFINITY,
): (key: string) => Value {
  const made = new BoundedMap<Value>(most);
  return function recall(key) {
    const known = made.get(key);
    if (known !== undefined || made.has(key)) return known as Value;
    const value = make(key);
    if (key.length <= longest) made.set(key, value);
    return value;
  };
}
