import type { SchemaIssue } from '../../../shared/api/operation.ts';
import { toErrors } from '../../request/schema-errors.ts';
import { type Schema, type SchemaOutput, toFields } from '../schema.ts';
import { type ActionArgs, invalid, type LoaderContext, type Refusal } from '../server-page.ts';

interface FormActionOptions {
  /** Fields that are always lists, such as checkboxes with the same name. */
  readonly lists?: readonly string[];
}

/**
 * An action that checks its form with a schema. If a field is not valid, the page is shown again with 422, the first
 * message for each field, and for each item of a list (`photos.0`), and what was typed. If all are valid, `handler` gets
 * the parsed form as `data`.
 *
 * A field is a list if the form has it more than once or if `lists` names it. Other fields are a string or a file.
 */
export function formAction<Form extends Schema, Answer, Context = LoaderContext>(
  schema: Form,
  handler: (args: ActionArgs<Context> & { readonly data: SchemaOutput<Form> }) => Answer | Promise<Answer>,
  { lists = [] }: FormActionOptions = {},
): (args: ActionArgs<Context>) => Promise<Answer | Refusal> {
  return async function formAction(args) {
    const result = await schema['~standard'].validate(toFields(args.form, lists));
    if (result.issues) return invalid({ errors: toErrors(result.issues.flatMap(ofField)) });
    return await handler({ ...args, data: result.value });
  };
}

/** An item of a list has no input of its own, so the page shows its message at the field. */
function ofField(issue: SchemaIssue): SchemaIssue[] {
  const { path = [] } = issue;
  return path.length > 1 ? [issue, { ...issue, path: path.slice(0, 1) }] : [issue];
}
