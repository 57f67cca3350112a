import type { PageProps } from '#engine';
import { Form, useActionResult } from '../../actions.ts';
import { Field } from '../../ui/field.tsx';
import styles from '../../ui/form.module.css';

export interface NotesData {
  notes: { id: string; text: string }[];
}

export interface NotesActions {
  add(): void;
}

export default function Notes({ data: { notes } }: PageProps<NotesData>) {
  const result = useActionResult('notes.add');
  return (
    <article>
      <title>Your notes</title>
      <meta name="description" content="Notes that only you can see." />
      <h1>Your notes</h1>
      <Form action="notes.add" className={styles.form} reset>
        <Field label="New note" name="text" required maxLength={1000} result={result} />
        <button type="submit">Add</button>
      </Form>
      {notes.length === 0 && <p>You have no notes yet.</p>}
      <ul>
        {notes.map(({ id, text }) => (
          <li key={id}>{text}</li>
        ))}
      </ul>
    </article>
  );
}
