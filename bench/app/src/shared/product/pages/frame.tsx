import type { ReactNode } from 'react';
import { NavLink } from '#engine';

export interface FrameData {
  visitor: string;
  menu: string[];
}

/** What surrounds every page that is rendered for each request. */
export function Frame({ data: { visitor, menu }, children }: { data: FrameData; children: ReactNode }) {
  return (
    <>
      <header>
        <nav aria-label="Main">
          {menu.map((path) => (
            <NavLink key={path} to={path}>
              {path}
            </NavLink>
          ))}
        </nav>
        <p>{visitor}</p>
      </header>
      <main id="main">{children}</main>
      <form method="post">
        <label htmlFor="email">News by email</label>
        <input id="email" name="email" type="email" autoComplete="email" />
        <button type="submit">Subscribe</button>
      </form>
    </>
  );
}
