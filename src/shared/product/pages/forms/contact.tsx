import { Form, useActionResult } from '../../forms.ts';
import { Clock } from '../../ui/clock.tsx';
import { Field } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { usePending } from '../../ui/use-pending.ts';
import styles from './forms.module.css';

/** Shows errors next to the fields and keeps the typed values. */
export function Contact() {
  const result = useActionResult('forms.send');
  const sent = result?.data;
  const pending = usePending('forms.send');
  return (
    <section className={styles.section} id="contact">
      <h2>Checked on the server</h2>
      <Form action="forms.send" reset noValidate>
        <Field label="Your name" name="name" autoComplete="name" result={result} />
        <Field label="Your email address" name="email" type="email" autoComplete="email" result={result} />
        <Field label="Your message, at least ten characters" name="message" multiline result={result} />
        <div className={styles.buttons}>
          <button type="submit" disabled={pending}>
            {pending ? 'Sending…' : 'Send'}
          </button>
          {/* Spillway leaves a form with a target other than `_self` to the browser. */}
          <button type="submit" formTarget="_top" className="quiet">
            Post without JavaScript
          </button>
        </div>
        <FormError result={result} />
      </Form>
      <div role="status">
        {sent && (
          <p>
            Thank you. Sent at <Clock at={sent.sentAt} />. (The tour does not store messages.)
          </p>
        )}
      </div>
    </section>
  );
}
