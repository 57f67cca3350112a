import { Link } from '#engine';
import { Form, useActionResult } from '../../actions.ts';
import { Field } from '../../ui/field.tsx';
import styles from '../../ui/form.module.css';
import { FormError } from '../../ui/form-error.tsx';
import { Submit } from '../../ui/submit.tsx';

export interface SignInActions {
  signIn(): void;
}

export default function SignIn() {
  const result = useActionResult('sign-in.signIn');
  return (
    <article>
      <title>Sign in</title>
      <meta name="description" content="Sign in with your email address and your password." />
      <h1>Sign in</h1>
      <Form action="sign-in.signIn" className={styles.form}>
        <FormError result={result} />
        <Field label="Email" name="email" type="email" autoComplete="username" required result={result} />
        <Field
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          required
          result={result}
        />
        <Submit>Sign in</Submit>
      </Form>
      <p>
        <Link to="/forgot-password">Forgot your password?</Link>
      </p>
      <p>
        No account yet? <Link to="/sign-up">Sign up</Link>
      </p>
    </article>
  );
}
