import { Link } from '#engine';
import { accountPaths } from '../../account-paths.ts';
import { Form, useActionResult } from '../../forms.ts';
import { FormError, NewPassword } from '../../ui/field.tsx';
import styles from '../../ui/form.module.css';
import { Message } from '../../ui/message.tsx';

export default function ChoosePassword() {
  const result = useActionResult('choose-password.choose');
  const signIn = <Link to={accountPaths.signIn}>Sign in</Link>;
  if (result?.data === true) return <Message title="Your password was saved">{signIn} with it.</Message>;
  if (result?.data === false) {
    return (
      <Message title="The link has expired">
        A link works once, within an hour. {signIn} with your password, or get a new link there.
      </Message>
    );
  }
  return (
    <article>
      <title>Choose a password</title>
      <meta name="robots" content="noindex" />
      <h1>Choose a password</h1>
      <Form action="choose-password.choose" className={styles.form}>
        <NewPassword label="Password" name="password" result={result} />
        <FormError result={result} />
        <button type="submit">Save</button>
      </Form>
    </article>
  );
}
