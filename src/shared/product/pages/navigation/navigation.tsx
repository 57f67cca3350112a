import { useLocation } from 'react-router';
import { Link } from '../../../engine/link.tsx';
import { Code } from '../../ui/code.tsx';
import { Page } from '../../ui/page.tsx';
import styles from './navigation.module.css';

const STRETCHES = ['Spring', 'Brook', 'Rapids', 'Weir', 'Meadows', 'Ferry', 'Delta'];

export default function Navigation() {
  const { search, hash } = useLocation();
  return (
    <Page
      title="Navigation"
      lead="A link is an ordinary link. With JavaScript, the data of the next page is fetched alone, often before you click, and the page is exchanged in place."
    >
      <h2>When a link is prefetched</h2>
      <ul>
        <li>
          <Link to="/tour/layout" prefetch="intent">
            On intent
          </Link>
          : when you point at it, focus it or touch it
        </li>
        <li>
          <Link to="/tour/layout/arch" prefetch="render">
            At render
          </Link>
          : as soon as this page is there
        </li>
        <li>
          <Link to="/tour/streaming" prefetch="none">
            Never
          </Link>
          : only when you click
        </li>
        <li>
          In the viewport: <a href="#delta">at the end of this page</a> stands one that is fetched when you see it
        </li>
      </ul>
      <h2>Within this page</h2>
      <ul>
        <li>
          <Link to="/tour/navigation?from=spring">Another search</Link> (it is <code>{search || 'empty'}</code>)
        </li>
        <li>
          <Link to="/tour/navigation#weir">A hash, by Link</Link> and <a href="#ferry">a hash, by hand</a> (it is{' '}
          <code>{hash || 'empty'}</code> to React Router)
        </li>
      </ul>
      <Code file="src/shared/product/pages/navigation/navigation.tsx">{`
<Link to="/tour/layout" prefetch="intent">On intent</Link>
`}</Code>
      <h2>A long page</h2>
      <p>Scroll down, follow a link, and come back: you are where you were.</p>
      {STRETCHES.map((stretch) => (
        <section key={stretch} id={stretch.toLowerCase()} className={styles.stretch}>
          <h3>{stretch}</h3>
          <Link to={`/tour/cards?from=${stretch.toLowerCase()}`} prefetch="none">
            Leave at {stretch}
          </Link>
        </section>
      ))}
      <p>
        <Link to="/tour/static" prefetch="viewport">
          Prefetched when it is seen
        </Link>{' '}
        · <a href="#spring">Back to the spring</a>
      </p>
    </Page>
  );
}
