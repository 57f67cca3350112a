import outer from 'excerpt:src/server/product/pages/layout.ts#layout';
import inner from 'excerpt:src/server/product/pages/layout-tab.ts#layoutTab';
import routes from 'excerpt:src/shared/product/routes.tsx#layout';
import { Outlet } from 'react-router';
import { NavLink, type PageProps } from '#engine';
import type { layout } from '#product-server/pages/layout.ts';
import { Excerpt } from '../../ui/excerpt.tsx';
import { Exhibit } from '../../ui/exhibit.tsx';
import styles from './layout.module.css';

/** Sets no title, because the pages inside it do. */
export default function Layout({ data }: PageProps<typeof layout>) {
  const { tabs } = data;
  return (
    <article>
      <h1>Layouts</h1>
      <p className="lead">
        The list is a layout, and the text next to it is a page. Each has its own loader. One request loads the data of
        both.
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
              A dam that does not exist
            </NavLink>
          </nav>
          <section className={styles.detail}>
            <Outlet />
          </section>
        </div>
        <p className={styles.note}>
          <label htmlFor="note">A field in the layout: write something, then choose another dam</label>
          <input id="note" autoComplete="off" />
        </p>
      </Exhibit>
    </article>
  );
}
