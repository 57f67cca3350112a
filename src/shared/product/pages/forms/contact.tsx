import { Form, useActionOutcome } from '../../actions.ts';
import { Field } from '../../ui/field.tsx';
import { usePending } from '../../ui/use-pending.ts';
import { Answered } from './answered.tsx';
import styles from './forms.module.css';

/** What is wrong is said beside each field, and what was typed is kept. */
export function Contact() {
  const outcome = useActionOutcome('forms.send');
  const sent = outcome?.data;
  const pending = usePending('forms.send');
  return (
    <section className={styles.section} id="contact">
      <h2>Checked on the server</h2>
      <Form action="forms.send" reset noValidate>
        <Field label="Your name" name="name" autoComplete="name" outcome={outcome} />
        <Field label="Your e-mail address" name="email" type="email" autoComplete="email" outcome={outcome} />
        <Field label="Your message, at least ten characters" name="message" multiline outcome={outcome} />
        <div className={styles.buttons}>
          <button type="submit" disabled={pending}>
            {pending ? 'Sending…' : 'Send'}
          </button>
          {/* A post with a target of its own is left to the browser. */}
          <button type="submit" formTarget="_self" className="quiet">
            Post as a document
          </button>
        </div>
      </Form>
      <div role="status">
        {sent && <p>Thank you. Your message of {sent.sentAt.toISOString()} was read by nobody.</p>}
        <Answered outcome={outcome} />
      </div>
    </section>
  );
}
