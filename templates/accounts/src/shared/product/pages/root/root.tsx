import { Link, type PageProps } from '#engine';
import { Form } from '../../actions.ts';
import { Frame } from './frame.tsx';
import styles from './root.module.css';

export interface RootData {
  /** The email address of the signed-in user. */
  email: string | undefined;
}

export interface RootActions {
  signOut(): void;
}

/** The layout of all pages that are made for one visitor. */
export default function Root({ data: { email } }: PageProps<RootData>) {
  const account =
    email === undefined ? (
      <>
        <Link to="/sign-in">Sign in</Link>
        <Link to="/sign-up">Sign up</Link>
      </>
    ) : (
      <>
        <span>
          Signed in as{' '}
          <Link to="/account" className={styles.email}>
            {email}
          </Link>
        </span>
        <Form action="root.signOut">
          <button type="submit">Sign out</button>
        </Form>
      </>
    );
  return <Frame account={account} />;
}
