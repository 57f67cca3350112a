import { Link } from '#engine';
import { Form, useActionResult } from '../../actions.ts';
import { CheckMail } from '../../ui/check-mail.tsx';
import { Field } from '../../ui/field.tsx';
import styles from '../../ui/form.module.css';
import { Submit } from '../../ui/submit.tsx';

export interface SignUpActions {
  /** Returns the email address to which a link was sent. */
  sendLink(): { email: string };
}

export default function SignUp() {
  const result = useActionResult('sign-up.sendLink');
  if (result?.data) return <CheckMail email={result.data.email} />;
  return (
    <article>
      <title>Sign up</title>
      <meta name="description" content="Create an account with your email address." />
      <h1>Sign up</h1>
      <p>We will send you a link to confirm your email address and to choose a password.</p>
      <Form action="sign-up.sendLink" className={styles.form}>
        <Field label="Email" name="email" type="email" autoComplete="username" required result={result} />
        <Submit>Send the link</Submit>
      </Form>
      <p>
        Do you have an account? <Link to="/sign-in">Sign in</Link>
      </p>
    </article>
  );
}
