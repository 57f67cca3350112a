import type { PageProps } from '#engine';
import { Form, useActionResult } from '../../actions.ts';
import { Field } from '../../ui/field.tsx';
import styles from '../../ui/form.module.css';
import { Submit } from '../../ui/submit.tsx';

export interface AccountData {
  email: string;
}

export interface AccountActions {
  /** Returns true if the password was changed. */
  changePassword(): boolean;
  deleteAccount(): void;
}

export default function Account({ data: { email } }: PageProps<AccountData>) {
  const changed = useActionResult('account.changePassword');
  const deleted = useActionResult('account.deleteAccount');
  return (
    <article>
      <title>Your account</title>
      <meta name="description" content="Change your password, or delete your account." />
      <h1>Your account</h1>
      <p>You are signed in as {email}.</p>

      <h2>Change your password</h2>
      <Form action="account.changePassword" className={styles.form} reset>
        <Field
          label="Current password"
          name="password"
          type="password"
          autoComplete="current-password"
          required
          result={changed}
        />
        <Field
          label="New password"
          name="newPassword"
          type="password"
          autoComplete="new-password"
          required
          minLength={12}
          hint="At least 12 characters. Other devices are signed out."
          result={changed}
        />
        <Submit>Change password</Submit>
        <p role="status">{changed?.data && 'Your password was changed.'}</p>
      </Form>

      <h2>Delete your account</h2>
      <p>This deletes everything that belongs to your account. You cannot undo it.</p>
      <Form action="account.deleteAccount" className={styles.form}>
        <Field
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          required
          result={deleted}
        />
        <button type="submit">Delete my account</button>
      </Form>
    </article>
  );
}
