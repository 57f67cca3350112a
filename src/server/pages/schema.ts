import type { SchemaResult } from '../../shared/api/operation.ts';
import { publicError } from '../../shared/routing/control-flow.ts';
import { ACTION_FIELD } from '../../shared/wire/protocol.ts';
import { groupFields } from '../request/parse-body.ts';
import { toErrors, toName } from '../request/schema-errors.ts';

/** A schema of zod, Valibot, ArkType or another library: https://standardschema.dev */
export interface Schema<Output = unknown> {
  readonly '~standard': {
    validate(value: unknown): SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly output: Output } | undefined;
  };
}

export type OutputOf<Given extends Schema> = NonNullable<Given['~standard']['types']>['output'];

/**
 * Parses the search of a URL, `?page=2`. Values that are not valid are ignored, because visitors edit URLs and links get
 * old: the schema's defaults replace them.
 *
 * @throws a public error with status 400 if the schema accepts it neither with nor without them
 */
export async function parseSearch(schema: Schema, search: string): Promise<unknown> {
  const fields = toFields(new URLSearchParams(search));
  const result = await schema['~standard'].validate(fields);
  if (!result.issues) return result.value;
  for (const { path: [key = ''] = [] } of result.issues) delete fields[toName(key)];
  const second = await schema['~standard'].validate(fields);
  if (!second.issues) return second.value;
  const errors = Object.entries(toErrors(second.issues)).map(([name, message]) => `${name}: ${message}`);
  publicError(400, `The address of this page is not complete. ${errors.join(' ')}`);
}

/** Returns the fields as an object. A field is a list if it occurs more than once or if `lists` names it. */
export function toFields(form: FormData | URLSearchParams, lists: readonly string[] = []): Record<string, unknown> {
  // Field names can be anything, also `__proto__`.
  const fields: Record<string, unknown> = Object.create(null);
  const groups = groupFields<unknown>(form);
  for (const name of new Set([...groups.keys(), ...lists])) {
    if (name === ACTION_FIELD) continue;
    const values = groups.get(name) ?? [];
    fields[name] = values.length > 1 || lists.includes(name) ? values : values[0];
  }
  return fields;
}
