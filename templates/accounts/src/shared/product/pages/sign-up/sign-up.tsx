import { useLocation } from 'react-router';
import { Link, type PageProps } from '#engine';
import type { signUp } from '#product-server/pages/sign-up.ts';
import { accountPaths } from '../../account-paths.ts';
import { Form, useActionResult } from '../../forms.ts';
import { Field, FormError, NewPassword } from '../../ui/field.tsx';
import styles from '../../ui/form.module.css';
import { CheckMail } from '../../ui/message.tsx';

export default function SignUp({ data }: PageProps<typeof signUp>) {
  const { hasMail } = data;
  const { search } = useLocation(); // the page to return to
  const result = useActionResult('sign-up.signUp');
  if (result?.data) return <CheckMail email={result.data.email} />;
  return (
    <article>
      <title>Sign up</title>
      <meta name="description" content="Create an account with your email address." />
      <h1>Sign up</h1>
      {hasMail && <p>We will send you a link to confirm your email address and to choose a password.</p>}
      <Form action="sign-up.signUp" className={styles.form}>
        <Field label="Email" name="email" type="email" autoComplete="username" required result={result} />
        {!hasMail && <NewPassword label="Password" name="password" result={result} />}
        <FormError result={result} />
        <button type="submit">{hasMail ? 'Send the link' : 'Sign up'}</button>
      </Form>
      <p>
        Do you have an account? <Link to={accountPaths.signIn + search}>Sign in</Link>
      </p>
    </article>
  );
}
