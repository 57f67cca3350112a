import { Link, type PageProps } from '#engine';
import { Form, useActionResult } from '../../actions.ts';
import { Field } from '../../ui/field.tsx';
import styles from '../../ui/form.module.css';
import { Submit } from '../../ui/submit.tsx';

export interface ChoosePasswordData {
  /** Undefined if the link has expired or was used. */
  email: string | undefined;
}

export interface ChoosePasswordActions {
  choose(): void;
}

export default function ChoosePassword({ data: { email } }: PageProps<ChoosePasswordData>) {
  const result = useActionResult('choose-password.choose');
  if (email === undefined) {
    return (
      <article>
        <title>The link has expired</title>
        <h1>The link has expired</h1>
        <p>A link works once, within an hour.</p>
        <p>
          <Link to="/forgot-password">Get a new link</Link>
        </p>
      </article>
    );
  }
  return (
    <article>
      <title>Choose a password</title>
      <meta name="robots" content="noindex" />
      <h1>Choose a password</h1>
      <Form action="choose-password.choose" className={styles.form}>
        <Field
          label="Email"
          name="email"
          type="email"
          autoComplete="username"
          readOnly
          defaultValue={email}
          result={undefined}
        />
        <Field
          label="Password"
          name="password"
          type="password"
          autoComplete="new-password"
          required
          minLength={12}
          hint="At least 12 characters. A few random words are easy to remember."
          result={result}
        />
        <Submit>Save and sign in</Submit>
      </Form>
    </article>
  );
}
