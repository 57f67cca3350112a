import { Link } from '#engine';
import { Form, useActionResult } from '../../actions.ts';
import { CheckMail } from '../../ui/check-mail.tsx';
import { Field } from '../../ui/field.tsx';
import styles from '../../ui/form.module.css';
import { Submit } from '../../ui/submit.tsx';

export interface ForgotPasswordActions {
  /** Returns the email address to which a link was sent. */
  sendLink(): { email: string };
}

export default function ForgotPassword() {
  const result = useActionResult('forgot-password.sendLink');
  if (result?.data) return <CheckMail email={result.data.email} />;
  return (
    <article>
      <title>Forgot your password?</title>
      <meta name="description" content="Get a link to choose a new password." />
      <h1>Forgot your password?</h1>
      <p>We will send you a link to choose a new one.</p>
      <Form action="forgot-password.sendLink" className={styles.form}>
        <Field label="Email" name="email" type="email" autoComplete="username" required result={result} />
        <Submit>Send the link</Submit>
      </Form>
      <p>
        <Link to="/sign-in">Back to sign-in</Link>
      </p>
    </article>
  );
}
