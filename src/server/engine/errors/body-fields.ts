import { ACTION_FIELD } from '../../../shared/engine/wire/protocol.ts';
import type { BodyField } from './failure.ts';
import type { Scrubber } from './scrub.ts';

/** Nesting, and fields of all levels together, that are recorded (counts). */
const MAX_DEPTH = 5;
const MAX_FIELDS = 60;
/** Items of a list that are recorded (count). */
const MAX_ITEMS = 3;
const MAX_NAME_LENGTH = 60;

/**
 * Returns the names and types of a posted form or JSON. Values are left out, except those of the fields in `keep` and
 * the name of a form's action.
 *
 * @param keep names of fields at any level. A name that looks secret is not kept
 * @param scrubber knows the secrets of the request
 */
export function readBodyFields(body: unknown, keep: readonly string[], scrubber: Scrubber): BodyField | undefined {
  if (typeof body !== 'object' || body === null || Buffer.isBuffer(body)) return undefined;
  const kept = new Set([...keep.filter((name) => !scrubber.hides(name)), ACTION_FIELD]);
  let count = 0;

  function read(value: unknown, name: string, depth: number): BodyField {
    if (value === null) return 'null';
    if (value instanceof File) return 'file';
    if (value instanceof FormData) return read(toObject(value), name, depth);
    if (typeof value === 'string' && kept.has(name)) return { value: scrubber.text(value) };
    if ((typeof value === 'number' || typeof value === 'boolean') && kept.has(name)) return { value };
    if (typeof value !== 'object') return typeof value as 'string';
    if (depth === MAX_DEPTH || count > MAX_FIELDS) return Array.isArray(value) ? { items: [] } : { fields: {} };
    if (Array.isArray(value)) return { items: value.slice(0, MAX_ITEMS).map((item) => read(item, name, depth + 1)) };
    const fields: [string, BodyField][] = [];
    for (const [key, field] of Object.entries(value)) {
      count += 1;
      if (count > MAX_FIELDS) break;
      if (key.length <= MAX_NAME_LENGTH) fields.push([scrubber.text(key), read(field, key, depth + 1)]);
    }
    return { fields: Object.fromEntries(fields) };
  }

  return read(body, '', 0);
}

/** Repeated fields become a list. */
function toObject(form: FormData): object {
  return Object.fromEntries(
    [...new Set(form.keys())].map((name) => {
      const values = form.getAll(name);
      return [name, values.length === 1 ? values[0] : values];
    }),
  );
}
