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
    const isOver = depth > MAX_DEPTH || count > MAX_FIELDS;
    if (Array.isArray(value)) {
      return { items: isOver ? [] : value.slice(0, MAX_ITEMS).map((item) => read(item, name, depth + 1)) };
    }
    const entries = isOver ? [] : Object.entries(value).slice(0, MAX_FIELDS);
    count += entries.length;
    const fields = entries.filter(([key]) => key.length <= MAX_NAME_LENGTH);
    return {
      fields: Object.fromEntries(fields.map(([key, field]) => [scrubber.text(key), read(field, key, depth + 1)])),
    };
  }

  return read(body, '', 0);
}

/** Repeated fields become a list. */
function toObject(form: FormData): object {
  const values = [...new Set(form.keys())].map((name) => [name, form.getAll(name)] as const);
  return Object.fromEntries(values.map(([name, all]) => [name, all.length === 1 ? all[0] : all]));
}
