import { Link, type PageProps } from '#engine';
import type { signIn } from '#product-server/pages/sign-in.ts';
import { accountPaths, returnTo } from '../../account-paths.ts';
import { Form, submitAs, useActionResult } from '../../forms.ts';
import { Field, FormError } from '../../ui/field.tsx';
import styles from '../../ui/form.module.css';
import { CheckMail } from '../../ui/message.tsx';

export default function SignIn({ data }: PageProps<typeof signIn>) {
  const { providers, hasMail, to, problem } = data;
  const sent = useActionResult('sign-in.sendLink');
  const result = useActionResult('sign-in.signIn') ?? sent;
  if (sent?.data) return <CheckMail email={sent.data.email} />;
  return (
    <article>
      <title>Sign in</title>
      <meta name="description" content="Sign in with your email address and your password." />
      <h1>Sign in</h1>
      <Form action="sign-in.signIn" className={styles.form}>
        <FormError result={result}>
          {problem?.text}
          {problem?.address && (
            <>
              {' Digest: '}
              <code>{problem.address}</code>
            </>
          )}
        </FormError>
        <Field label="Email" name="email" type="email" autoComplete="username" required result={result} />
        <Field
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          required
          result={result}
        />
        <button type="submit">Sign in</button>
        {hasMail && (
          <p>
            Forgot your password?{' '}
            <button {...submitAs('sign-in.sendLink')} formNoValidate>
              Send me a link
            </button>
          </p>
        )}
      </Form>
      {providers.map((provider) => (
        <p key={provider}>
          <a href={returnTo(`/auth/sign-in/${provider}`, to)}>{`Sign in with ${provider}`}</a>
        </p>
      ))}
      <p>
        No account yet? <Link to={returnTo(accountPaths.signUp, to)}>Sign up</Link>
      </p>
    </article>
  );
}
