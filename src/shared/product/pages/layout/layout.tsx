import { Outlet } from 'react-router';
import { useData } from '../../../engine/hooks.ts';
import { NavLink } from '../../../engine/link.tsx';
import { Code } from '../../ui/code.tsx';
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
      <Code file="src/shared/product/routes.tsx">{`
{
  id: 'layout',
  page: () => import('./pages/layout/layout.tsx'),
  children: [
    { id: 'layout-start', path: '/tour/layout', page: () => import('./pages/layout/start.tsx') },
    { id: 'layout-tab', path: '/tour/layout/:tab', page: () => import('./pages/layout/tab.tsx') },
  ],
}
`}</Code>
    </article>
  );
}
