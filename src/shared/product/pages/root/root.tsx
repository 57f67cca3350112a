import { Outlet, useLocation } from 'react-router';
import { Link, NavLink } from '#engine';
import './global.css';
import { PageNote } from './page-note.tsx';
import styles from './root.module.css';

const SECTIONS = [
  { to: '/tour/streaming', text: 'Streaming' },
  { to: '/tour/layout', text: 'Layouts' },
  { to: '/tour/navigation', text: 'Navigation' },
  { to: '/tour/forms', text: 'Forms' },
  { to: '/tour/static', text: 'Static' },
  { to: '/tour/shell', text: 'Shell' },
  { to: '/tour/cards', text: 'Cards' },
  { to: '/tour/api', text: 'API' },
  { to: '/tour/failures', text: 'Failures' },
];

/** The layout of every page: the menu, and a form that works on all of them. */
export default function Root() {
  const { pathname } = useLocation();
  const stop = SECTIONS.findIndex(({ to }) => pathname.startsWith(to));
  const next = (stop >= 0 || pathname === '/') && SECTIONS[stop + 1];
  return (
    <>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <header className={styles.header}>
        <NavLink className={styles.brand} to="/" prefetch="intent">
          Spillway
        </NavLink>
        <nav className={styles.nav} aria-label="Tour">
          {SECTIONS.map(({ to, text }) => (
            <NavLink key={to} to={to} prefetch="intent">
              {text}
            </NavLink>
          ))}
        </nav>
      </header>
      <main id="main" className={styles.main} tabIndex={-1}>
        <Outlet />
      </main>
      <footer className={styles.footer}>
        {next && (
          <p className={styles.next}>
            <Link to={next.to}>Next: {next.text} →</Link>
          </p>
        )}
        <PageNote />
      </footer>
    </>
  );
}
