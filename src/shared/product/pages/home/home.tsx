import { Link, type PageProps } from '#engine';
import type { home } from '#product-server/pages/home.ts';
import { Clock } from '../../ui/clock.tsx';
import styles from './home.module.css';

const FEATURES = [
  ['streaming', 'Pages stream', 'The page arrives immediately. Slow values follow in the same response.'],
  ['layout', 'Layouts nest', 'Every layout and page has a loader. One request runs all of them.'],
  ['navigation', 'Navigation is fast', 'Links prefetch the data of the next page. Back is instant.'],
  ['forms', 'Forms work without JavaScript', 'One server action handles a form with and without it.'],
  ['static', 'Static pages stay fresh', 'Rendered once, served from memory, refreshed in the background.'],
  ['shell', 'Shells come first', 'A page that all visitors share, with parts for each of them.'],
  ['cards', 'Rendering is measured', 'Fifty cards per request. npm run bench compares them with plain React.'],
  ['api', 'APIs keep their promises', 'Schemas check every answer under /api, and errors have a digest.'],
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
      <meta
        name="description"
        content="Spillway is a starting point for web apps: React pages, streamed by your own Express server. This is its tour."
      />
      <div className={styles.hero}>
        <div>
          <h1>React, streamed by Express</h1>
          <p className={styles.motto}>Every failure has an address.</p>
          <p className="lead">
            Spillway is a starting point for web apps: React 19 pages on your own Express 5 server, in TypeScript. Clone
            it, replace this tour with your pages and your API, and run it as one container.
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
                Visitors see an error page with an address. For you it is a link to the line of source, the request, and
                how often it happened, if you came by the link that the server printed.
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
