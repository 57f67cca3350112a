import outer from 'excerpt:src/server/product/pages/layout.ts#layout';
import inner from 'excerpt:src/server/product/pages/layout-tab.ts#layoutTab';
import routes from 'excerpt:src/shared/product/routes.tsx#layout';
import { Outlet } from 'react-router';
import { NavLink, useData } from '#engine';
import { Excerpt } from '../../ui/excerpt.tsx';
import { Exhibit } from '../../ui/exhibit.tsx';
import styles from './layout.module.css';

export interface LayoutData {
  tabs: { id: string; name: string }[];
}

/** Leaves the title to the pages inside it: a document has one. */
export default function Layout() {
  const { tabs } = useData<LayoutData>();
  return (
    <article>
      <h1>Layouts</h1>
      <p className="lead">
        The list is a layout with a loader of its own; what stands beside it is the page, with another. One request
        brings the data of both.
      </p>
      <Exhibit
        code={
          <>
            <Excerpt of={routes} />
            <Excerpt of={outer} />
            <Excerpt of={inner} />
          </>
        }
      >
        <div className={styles.columns}>
          <nav className={styles.list} aria-label="Kinds of dam">
            {tabs.map(({ id, name }) => (
              <NavLink key={id} to={`/tour/layout/${id}`} prefetch="intent">
                {name}
              </NavLink>
            ))}
            <NavLink to="/tour/layout/castle-in-the-air" prefetch="none">
              One that is not there
            </NavLink>
          </nav>
          <section className={styles.detail}>
            <Outlet />
          </section>
        </div>
        <p className={styles.note}>
          <label htmlFor="note">A note in the layout: write something, then choose another dam</label>
          <input id="note" autoComplete="off" />
        </p>
      </Exhibit>
    </article>
  );
}
