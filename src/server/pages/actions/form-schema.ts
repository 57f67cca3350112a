import { ACTION_FIELD } from '../../../shared/wire/protocol.ts';
import { type ActionArgs, invalid, type LoaderContext, type Refusal } from '../server-page.ts';

/** A schema of zod, Valibot, ArkType or another library: https://standardschema.dev */
interface FormSchema<Output = unknown> {
  readonly '~standard': {
    validate(value: unknown): SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly output: Output } | undefined;
  };
}

type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type OutputOf<Schema extends FormSchema> = NonNullable<Schema['~standard']['types']>['output'];

interface FormActionOptions {
  /** Fields that are always lists, such as checkboxes with the same name. */
  readonly lists?: readonly string[];
}

/**
 * An action that checks its form with a schema. If a field is not valid, the page is shown again with 422, the first
 * message for each field, and what was typed. If all are valid, `handler` gets the parsed form as `data`.
 *
 * A field is a list if the form has it more than once or if `lists` names it. Other fields are a string or a file.
 */
export function formAction<Schema extends FormSchema, Answer, Context = LoaderContext>(
  schema: Schema,
  handler: (args: ActionArgs<Context> & { readonly data: OutputOf<Schema> }) => Answer | Promise<Answer>,
  { lists = [] }: FormActionOptions = {},
): (args: ActionArgs<Context>) => Promise<Answer | Refusal> {
  return async function formAction(args) {
    const result = await schema['~standard'].validate(toFields(args.form, lists));
    if (result.issues) return invalid({ errors: toErrors(result.issues) });
    return await handler({ ...args, data: result.value });
  };
}

function toFields(form: FormData, lists: readonly string[]): Record<string, unknown> {
  // Field names can be anything, also `__proto__`.
  const fields: Record<string, unknown> = Object.create(null);
  for (const name of new Set([...form.keys(), ...lists])) {
    if (name === ACTION_FIELD) continue;
    const values = form.getAll(name);
    fields[name] = values.length > 1 || lists.includes(name) ? values : values[0];
  }
  return fields;
}

function toErrors(issues: readonly SchemaIssue[]): Record<string, string> {
  const errors = new Map<string, string>();
  for (const { path = [], message } of issues) {
    const name = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
    if (!errors.has(name)) errors.set(name, message);
  }
  return Object.fromEntries(errors);
}
