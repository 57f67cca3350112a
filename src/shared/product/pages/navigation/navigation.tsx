import prefetches from 'excerpt:src/shared/product/pages/navigation/prefetches.tsx#Prefetches';
import { useLocation } from 'react-router';
import { Link, type PageProps } from '#engine';
import type { navigation } from '#product-server/pages/navigation.ts';
import { href } from '../../href.ts';
import { Excerpt } from '../../ui/excerpt.tsx';
import { Exhibit } from '../../ui/exhibit.tsx';
import { Page } from '../../ui/page.tsx';
import styles from './navigation.module.css';
import { Prefetches } from './prefetches.tsx';

const STRETCHES = ['Spring', 'Brook', 'Rapids', 'Weir', 'Meadows', 'Ferry', 'Delta'];

export default function Navigation({ search: { from } }: PageProps<typeof navigation>) {
  const { hash } = useLocation();
  return (
    <Page
      title="Navigation"
      lead="A link is an ordinary link. With JavaScript, only the data of the next page is fetched, often before you click."
    >
      <Exhibit code={<Excerpt of={prefetches} />}>
        <h2>When a link is prefetched</h2>
        <Prefetches />
        <h2>Within this page</h2>
        <ul>
          <li>
            <Link to={href('/tour/navigation', { search: { from: 'spring' } })}>Another search</Link> (it is from{' '}
            <code>{from ?? 'nowhere'}</code>)
          </li>
          <li>
            <Link to="/tour/navigation#weir">A hash, by Link</Link> and <a href="#ferry">a hash, by a plain link</a> (it
            is <code>{hash || 'empty'}</code> to React Router)
          </li>
        </ul>
      </Exhibit>
      <h2>A long page</h2>
      <p>Scroll down, follow a link, and come back. The page is scrolled to where you left it.</p>
      <div className={styles.river}>
        {STRETCHES.map((stretch) => (
          <section key={stretch} id={stretch.toLowerCase()} className={styles.stretch}>
            <h3>{stretch}</h3>
            <Link to={`/tour/cards?from=${stretch.toLowerCase()}`} prefetch="none">
              Leave at {stretch}
            </Link>
          </section>
        ))}
      </div>
      <p>
        <Link to="/tour/static" prefetch="viewport">
          Prefetched when you see it
        </Link>{' '}
        · <a href="#spring">Back to the spring</a>
      </p>
    </Page>
  );
}
