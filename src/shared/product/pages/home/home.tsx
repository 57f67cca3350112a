import { Link, useData } from '#engine';
import styles from './home.module.css';

export interface HomeData {
  renderedAt: Date;
}

const CLAIMS = [
  ['streaming', 'Pages do not wait', 'Each slow value fills its place when it comes, in the same response.'],
  ['layout', 'Layouts stay', 'Pages inside pages, each part with data of its own, all in one request.'],
  ['navigation', 'The next page is there', 'Its data alone is fetched, often before the click. Back is instant.'],
  ['forms', 'Forms need no JavaScript', 'One server action answers with a page, or in the background.'],
  ['static', 'Static pages are kept', 'Rendered once, answered from memory, renewed in the background.'],
  ['cards', 'Rendering is cheap', 'Fifty cards cost less CPU than React on bare Node does.'],
  ['api', 'APIs are plain Express', 'JSON under /api, with its errors as problem+json.'],
  ['failures', 'Failures are found', 'No message and no stack leave the server: an address does.'],
] as const;

const COMMANDS = [
  ['npm ci && npm start', 'serves this tour'],
  ['npm run dev', 'shows each change as you make it'],
  ['npm run own', 'leaves an empty app in its place'],
] as const;

export default function Home() {
  const { renderedAt } = useData<HomeData>();
  return (
    <article>
      <title>Spillway: React, streamed by Express</title>
      <meta
        name="description"
        content="Spillway is a web app to start from: React pages, streamed by an Express server of your own. This is its tour."
      />
      <div className={styles.hero}>
        <div>
          <h1>React, streamed by Express</h1>
          <p className={styles.motto}>Every failure has an address.</p>
          <p className="lead">
            Spillway is a whole web app to start from: pages in React 19 on a server of your own, Express 5, all in
            TypeScript. Clone it, put your pages and your API in the place of this tour, and read any line of the rest.
            Pages stream, work without JavaScript, and say where to look when something breaks.
          </p>
          <ul className={styles.commands}>
            {COMMANDS.map(([command, effect]) => (
              <li key={command}>
                <code>{command}</code> {effect}
              </li>
            ))}
          </ul>
        </div>
        <dl className={styles.address}>
          <dt>When something breaks, a visitor sees</dt>
          <dd>
            This could not be loaded. Digest: <strong>7K3QM2XA-9F4W0R6B</strong>
          </dd>
          <dt>Your log has the same address, and the stack</dt>
          <dd>
            <code>
              "digest":"<strong>7K3QM2XA</strong>", "occurrence":"<strong>9F4W0R6B</strong>", "route":"/gauges/:id",
              "stack":"TypeError: level is undefined at readGauge (…"
            </code>
          </dd>
        </dl>
      </div>
      <h2>What you get</h2>
      <ul className={styles.claims}>
        {CLAIMS.map(([page, claim, text]) => (
          <li key={page}>
            <Link to={`/tour/${page}`}>{claim}</Link>
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
