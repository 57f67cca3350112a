import { Outlet, useNavigation } from 'react-router';
import { NavLink } from '#engine';
import './global.css';
import styles from './root.module.css';

/** The layout of every page. */
export default function Root() {
  return (
    <>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      {useNavigation().state !== 'idle' && <div role="progressbar" aria-label="Loading" className={styles.loading} />}
      <header className={styles.header}>
        <NavLink className={styles.brand} to="/">
          Your app
        </NavLink>
      </header>
      <main id="main" className={styles.main} tabIndex={-1}>
        <Outlet />
      </main>
    </>
  );
}
