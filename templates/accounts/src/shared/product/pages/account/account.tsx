import type { PageProps } from '#engine';
import type { account } from '#product-server/pages/account.ts';
import { Form, useActionResult } from '../../forms.ts';
import { Field, FormError, NewPassword } from '../../ui/field.tsx';
import styles from '../../ui/form.module.css';

export default function Account({ data }: PageProps<typeof account>) {
  const { email } = data;
  const changed = useActionResult('account.changePassword');
  const deleted = useActionResult('account.deleteAccount');
  const current = { name: 'password', type: 'password', autoComplete: 'current-password', required: true };
  return (
    <article>
      <title>Your account</title>
      <meta name="description" content="Change your password, or delete your account." />
      <h1>Your account</h1>
      <p>You are signed in as {email}.</p>

      <h2>Change your password</h2>
      <Form action="account.changePassword" className={styles.form} reset>
        <Field {...current} label="Current password" result={changed} />
        <NewPassword label="New password" name="newPassword" result={changed} />
        <FormError result={changed} />
        <button type="submit">Change password</button>
        <p role="status">{changed?.data && 'Your password was changed. Other devices are signed out.'}</p>
      </Form>

      <h2>Delete your account</h2>
      <p>This deletes everything that belongs to your account. You cannot undo it.</p>
      <Form action="account.deleteAccount" className={styles.form}>
        <Field {...current} label="Password" result={deleted} />
        <FormError result={deleted} />
        <p>
          <button type="submit">Delete my account</button>
        </p>
      </Form>
    </article>
  );
}
