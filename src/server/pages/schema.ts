import type { SchemaIssue, SchemaResult } from '../../shared/api/operation.ts';
import { type EngineText, say } from '../../shared/rendering/language.ts';
import { publicError } from '../../shared/routing/control-flow.ts';
import { ACTION_FIELD } from '../../shared/wire/protocol.ts';
import type { AppLog } from '../request/app-log.ts';
import { groupFields } from '../request/parse-body.ts';
import type { RequestInfo } from '../request/request-info.ts';
import { toErrors, toName } from '../request/schema-errors.ts';

/** A schema of zod, Valibot, ArkType or another library: https://standardschema.dev */
export interface Schema<Output = unknown> {
  readonly '~standard': {
    validate(value: unknown): SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly output: Output } | undefined;
  };
}

export type SchemaOutput<Given extends Schema> = NonNullable<Given['~standard']['types']>['output'];

/**
 * Parses the search of a URL, `?page=2`. Values that are not valid are ignored, because visitors edit URLs and links get
 * old: the schema's defaults replace them.
 *
 * @throws a public error with status 400 if the schema accepts it neither with nor without them
 */
export async function parseSearch(
  schema: Schema,
  search: string,
  { info, log }: { readonly info: Pick<RequestInfo, 'language'>; readonly log: () => Pick<AppLog, 'warn'> },
): Promise<unknown> {
  const fields = toFields(new URLSearchParams(search));
  const parse = async () => schema['~standard'].validate(fields);
  const first = await parse();
  if (!first.issues) return first.value;
  // A list of one looks like a text.
  for (const key of toKeys(first.issues)) {
    if (typeof fields[key] === 'string') fields[key] = [fields[key]];
    else delete fields[key];
  }
  const second = await parse();
  if (!second.issues) return second.value;
  const errors = Object.entries(toErrors(first.issues)).map(([name, text]) => (name ? `${name}: ${text}` : text));
  if (process.env.SPILLWAY_DEV) log().warn({ search, errors }, NOT_ACCEPTED);
  for (const key of toKeys(second.issues)) delete fields[key];
  const third = await parse();
  if (!third.issues) return third.value;
  publicError(400, [say(info.language, 'This address is not valid.' satisfies EngineText), ...errors].join(' '));
}

const NOT_ACCEPTED =
  'The schema in `search` of a page does not accept this search, so it ignores the values that are not valid. All values are text: for a number, use z.coerce.number().';

function toKeys(issues: readonly SchemaIssue[]): string[] {
  return issues.map(({ path: [key = ''] = [] }) => toName(key));
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
