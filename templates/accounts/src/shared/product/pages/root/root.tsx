import { Outlet, useNavigation } from 'react-router';
import { Link, NavLink, type PageProps } from '#engine';
import type { root } from '#product-server/pages/root.ts';
import { accountPaths } from '../../account-paths.ts';
import { Form } from '../../forms.ts';
import './global.css';
import styles from './root.module.css';

/** The layout of all pages. Static ones have no data, because they are the same for everyone. */
export default function Root({ data }: Partial<Pick<PageProps<typeof root>, 'data'>>) {
  return (
    <>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      {useNavigation().state !== 'idle' && <div role="progressbar" aria-label="Loading" className={styles.loading} />}
      <header className={styles.header}>
        <nav className={styles.links} aria-label="Pages">
          <NavLink to="/" end>
            Home
          </NavLink>
          <NavLink to="/notes">Notes</NavLink>
        </nav>
        {data ? <Visitor email={data.email} /> : <Link to={accountPaths.account}>Account</Link>}
      </header>
      <main id="main" className={styles.main} tabIndex={-1}>
        <Outlet />
      </main>
    </>
  );
}

function Visitor({ email }: { email: string | undefined }) {
  if (email === undefined) {
    return (
      <div className={styles.links}>
        <Link to={accountPaths.signIn}>Sign in</Link>
        <Link to={accountPaths.signUp}>Sign up</Link>
      </div>
    );
  }
  return (
    <Form action="root.signOut" className={styles.links}>
      <Link to={accountPaths.account}>{email}</Link>
      <button type="submit">Sign out</button>
    </Form>
  );
}
