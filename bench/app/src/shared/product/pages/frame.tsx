import type { ReactNode } from 'react';
import { NavLink } from '#engine';
import './global.css';
import styles from './frame.module.css';

export interface FrameData {
  visitor: string;
  messages: number;
  menu: { title: string; path: string }[];
}

/** What surrounds every page that is rendered for each request. */
export function Frame({ data: { visitor, messages, menu }, children }: { data: FrameData; children: ReactNode }) {
  return (
    <>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <header className={styles.header}>
        <nav aria-label="Main">
          {menu.map(({ title, path }) => (
            <NavLink key={path} to={path}>
              {title}
            </NavLink>
          ))}
        </nav>
        <p className={styles.visitor}>
          {visitor} <span title="Messages">✉ {messages}</span>
        </p>
      </header>
      <main id="main" className={styles.main} tabIndex={-1}>
        {children}
      </main>
      <footer>
        <form method="post">
          <label htmlFor="email">News by email</label>
          <input id="email" name="email" type="email" autoComplete="email" />
          <button type="submit">Subscribe</button>
        </form>
      </footer>
    </>
  );
}
