import { useData } from '#engine';
import type { forms } from '#product-server/pages/forms.ts';
import { Form, useActionResult } from '../../forms.ts';
import { Field } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { usePending } from '../../ui/use-pending.ts';
import styles from './forms.module.css';

/** Two actions on one page. All visitors share the list until the server restarts. */
export function Gates() {
  const { gates } = useData<typeof forms>();
  const added = useActionResult('forms.add');
  const adding = usePending('forms.add');
  return (
    <section className={styles.section} id="gates">
      <h2>Two actions on a page</h2>
      <ul className={styles.gates}>
        {gates.map((gate) => (
          <li key={gate.id}>
            <span>{gate.name}</span>
            <Form action="forms.remove" method="post">
              <input type="hidden" name="id" value={gate.id} />
              <button type="submit" aria-label={`Remove ${gate.name}`}>
                Remove
              </button>
            </Form>
          </li>
        ))}
      </ul>
      {gates.length === 0 && <p>There are no gates.</p>}
      <Form action="forms.add" reset noValidate>
        <Field label="Name of a gate" name="name" result={added} />
        <button type="submit" disabled={adding}>
          {adding ? 'Adding…' : 'Add'}
        </button>
        <FormError result={added} />
      </Form>
    </section>
  );
}
