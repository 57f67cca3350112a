import { useEffect, useRef } from 'react';
import { Outlet, useLocation, useNavigation } from 'react-router';
import { Link, NavLink } from '#engine';
import './global.css';
import styles from './root.module.css';

const SECTIONS = [
  ['streaming', 'Streaming'],
  ['layout', 'Layouts'],
  ['navigation', 'Navigation'],
  ['forms', 'Forms'],
  ['static', 'Static'],
  ['shell', 'Shell'],
  ['cards', 'Cards'],
  ['api', 'API'],
  ['failures', 'Failures', 'fail'],
].map(([page, text, under = page]) => ({ to: `/tour/${page}`, text, under: `/tour/${under}` }));

/** The layout of every page: the menu, and the way on to the next page of the tour. */
export default function Root() {
  const { pathname } = useLocation();
  const stop = SECTIONS.findIndex(({ under }) => pathname.startsWith(under));
  const next = (stop >= 0 || pathname === '/') && SECTIONS[stop + 1];
  const nav = useRef<HTMLElement>(null);
  // On a phone, the menu is wider than the screen.
  useEffect(() => {
    const current = nav.current?.children[stop] as HTMLElement | undefined;
    nav.current?.scrollTo(current ? current.offsetLeft - 99 : 0, 0);
  }, [stop]);
  return (
    <>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      {useNavigation().state !== 'idle' && <div role="progressbar" aria-label="Loading" className={styles.loading} />}
      <header className={styles.header}>
        <NavLink className={styles.brand} to="/" prefetch="intent">
          Spillway
        </NavLink>
        <nav ref={nav} className={styles.nav} aria-label="Tour">
          {SECTIONS.map(({ to, text }, index) => (
            <Link
              key={to}
              to={to}
              prefetch="intent"
              aria-current={index === stop ? (pathname === to ? 'page' : 'true') : undefined}
            >
              {text}
            </Link>
          ))}
        </nav>
      </header>
      <main id="main" className={styles.main} tabIndex={-1}>
        <Outlet />
      </main>
      {next && (
        <footer className={styles.footer}>
          <Link to={next.to}>Next: {next.text} →</Link>
        </footer>
      )}
    </>
  );
}
