import type { PageProps } from '#engine';
import type { notes } from '#product-server/pages/notes.ts';
import { Form, useActionResult } from '../../forms.ts';
import { Field, FormError } from '../../ui/field.tsx';
import styles from '../../ui/form.module.css';

export default function Notes({ data }: PageProps<typeof notes>) {
  const result = useActionResult('notes.add');
  return (
    <article>
      <title>Your notes</title>
      <meta name="description" content="Notes that only you can see." />
      <h1>Your notes</h1>
      <Form action="notes.add" className={styles.form} reset>
        <Field label="New note" name="text" required maxLength={1000} result={result} />
        <FormError result={result} />
        <button type="submit">Add</button>
      </Form>
      {data.notes.length === 0 && <p>You have no notes yet.</p>}
      <ul>
        {data.notes.map(({ id, text }) => (
          <li key={id}>{text}</li>
        ))}
      </ul>
    </article>
  );
}
