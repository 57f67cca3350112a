import { Form, useActionResult } from '../../forms.ts';
import { Field } from '../../ui/field.tsx';
import { usePending } from '../../ui/use-pending.ts';

/** A form of the root layout. It posts to the current page, and the response shows that page again. */
export function PageNote() {
  const result = useActionResult('root.note');
  const pending = usePending('root.note');
  return (
    <Form action="root.note" reset noValidate>
      <Field label="A form in the layout: leave a note" name="text" autoComplete="off" result={result} />
      <button type="submit" className="quiet" disabled={pending}>
        {pending ? 'Sending…' : 'Leave note'}
      </button>
      <p role="status">
        {result?.errors?.[''] ?? (result?.data && `You wrote: ${result.data.text} (The tour does not store notes.)`)}
      </p>
    </Form>
  );
}
