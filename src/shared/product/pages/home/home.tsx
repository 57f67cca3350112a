import { useData } from '../../../engine/hooks.ts';
import { Link } from '../../../engine/link.tsx';
import styles from './home.module.css';

export interface HomeData {
  renderedAt: Date;
}

const STOPS = [
  { to: '/tour/streaming', title: 'Streaming', text: 'The page at once, slow data in its place when it comes.' },
  { to: '/tour/layout', title: 'Layouts', text: 'Pages inside pages, each part with data of its own.' },
  { to: '/tour/navigation', title: 'Navigation', text: 'Prefetched links, hash links, scroll, Back and Forward.' },
  { to: '/tour/forms', title: 'Forms', text: 'Server actions that work with JavaScript and without.' },
  { to: '/tour/static', title: 'Static', text: 'Rendered once, kept in memory, refreshed behind you.' },
  { to: '/tour/cards', title: 'Cards', text: 'Fifty cards on a dynamic page: what the benchmark asks for.' },
  { to: '/tour/api', title: 'API', text: 'JSON resources under /api, with errors as problem+json.' },
  { to: '/tour/failures', title: 'Failures', text: 'What a visitor sees when something breaks.' },
];

export default function Home() {
  const { renderedAt } = useData<HomeData>();
  return (
    <article>
      <title>Spillway: React, streamed by Express</title>
      <meta name="description" content="A tour of Spillway: an Express server that streams React pages." />
      <h1>React, streamed by Express</h1>
      <p className="lead">
        Spillway renders React as a stream, hydrates it in the browser, and gives every failure an address. Each page of
        this tour shows one thing at work, and the few lines that do it.
      </p>
      <ul className={styles.stops}>
        {STOPS.map(({ to, title, text }) => (
          <li key={to}>
            <Link to={to} prefetch="intent">
              {title}
            </Link>
            <p>{text}</p>
          </li>
        ))}
      </ul>
      <p className={styles.note}>
        This page was rendered for you at <time dateTime={renderedAt.toISOString()}>{renderedAt.toISOString()}</time>.
      </p>
    </article>
  );
}
