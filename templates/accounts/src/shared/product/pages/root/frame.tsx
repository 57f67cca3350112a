import type { ReactNode } from 'react';
import { Outlet } from 'react-router';
import { NavLink } from '#engine';
import './global.css';
import styles from './root.module.css';

/** The links of the navigation. */
const LINKS = [{ to: '/', text: 'Home' }];

/** What all layouts have in common. */
export function Frame({ account }: { account: ReactNode }) {
  return (
    <>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <header className={styles.header}>
        <nav className={styles.nav} aria-label="Pages">
          {LINKS.map(({ to, text }) => (
            <NavLink key={to} to={to} end={to === '/'}>
              {text}
            </NavLink>
          ))}
        </nav>
        <div className={styles.account}>{account}</div>
      </header>
      <main id="main" className={styles.main} tabIndex={-1}>
        <Outlet />
      </main>
    </>
  );
}
