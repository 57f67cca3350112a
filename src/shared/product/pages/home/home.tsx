import { Link, type PageProps } from '#engine';
import type { home } from '#product-server/pages/home.ts';
import { Clock } from '../../ui/clock.tsx';
import styles from './home.module.css';

const FEATURES = [
  ['streaming', 'Pages stream', 'Slow values follow in the same response.'],
  ['layout', 'Layouts nest', 'One request runs the loaders of all layouts.'],
  ['navigation', 'Navigation is fast', 'Links prefetch pages. Back is instant.'],
  ['forms', 'Forms work without JavaScript', 'One server action handles both.'],
  ['static', 'Static pages stay fresh', 'Served from memory, refreshed in the background.'],
  ['shell', 'Shells come first', 'All visitors share a page, with parts for each.'],
  ['cards', 'Rendering is measured', 'Fifty cards, and what each request costs.'],
  ['api', 'APIs keep their promises', 'Schemas check every answer under /api.'],
  ['failures', 'Failures are found', 'Visitors see an address. It leads you to the line of source.'],
] as const;

const COMMANDS = [
  ['npm ci && npm start', 'serves this tour'],
  ['npm run dev', 'shows your changes as you make them'],
  ['npm run own', 'replaces the tour with an empty app'],
] as const;

export default function Home({ data }: PageProps<typeof home>) {
  const { failuresEnabled, renderedAt } = data;
  return (
    <article>
      <title>Spillway: React, streamed by Express</title>
      <meta name="description" content="React pages on your own Express server: the tour of Spillway." />
      <div className={styles.hero}>
        <div>
          <h1>React, streamed by Express</h1>
          <p className={styles.motto}>Every failure has an address.</p>
          <p className="lead">
            React 19 pages on your own Express 5 server, in TypeScript. Clone it, replace this tour with your pages and
            your API, and run it as one container.
          </p>
          <ul className={styles.commands}>
            {COMMANDS.map(([command, effect]) => (
              <li key={command}>
                <code>{command}</code> {effect}
              </li>
            ))}
          </ul>
        </div>
        <section className={styles.failure} aria-labelledby="failure">
          <h2 id="failure">Break something, then find out why</h2>
          {failuresEnabled ? (
            <form action="/tour/fail/loader">
              <button type="submit">Break something</button>
              <p>
                Visitors see an address. It leads you to the line of source, if you came by the link that the server
                printed.
              </p>
            </form>
          ) : (
            <p>
              Set <code>TOUR_FAILURES=1</code> to try it.
            </p>
          )}
        </section>
      </div>
      <h2>What you get</h2>
      <ul className={styles.features}>
        {FEATURES.map(([page, feature, text]) => (
          <li key={page}>
            <Link to={`/tour/${page}`}>{feature}</Link>
            <p>{text}</p>
          </li>
        ))}
      </ul>
      <p className={styles.note}>
        Rendered for you at <Clock at={renderedAt} />.
      </p>
    </article>
  );
}
