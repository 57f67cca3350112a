import { useData } from '../../../engine/hooks.ts';
import { Link } from '../../../engine/link.tsx';
import styles from './home.module.css';

export interface HomeData {
  renderedAt: Date;
}

const CLAIMS = [
  ['streaming', 'Pages do not wait', 'Each slow value fills its place when it comes, in the same response.'],
  ['layout', 'Layouts stay', 'Pages inside pages, each part with data of its own, all in one request.'],
  ['navigation', 'The next page is there', 'Its data alone is fetched, often before the click. Back is instant.'],
  ['forms', 'Forms need no JavaScript', 'One server action answers with a page, or in the background.'],
  ['static', 'Static pages are kept', 'Rendered once, answered from memory or with 304, renewed behind you.'],
  ['cards', 'Rendering is cheap', 'Fifty cards cost less CPU than React on bare Node does.'],
  ['api', 'APIs are plain Express', 'JSON under /api, with its errors as problem+json.'],
  ['failures', 'Failures are found', 'No message and no stack leave the server: an address does.'],
] as const;

export default function Home() {
  const { renderedAt } = useData<HomeData>();
  return (
    <article>
      <title>Spillway: React, streamed by Express</title>
      <meta name="description" content="A tour of Spillway: an Express server that streams React pages." />
      <div className={styles.hero}>
        <div>
          <h1>React, streamed by Express</h1>
          <p className={styles.motto}>Every failure has an address.</p>
          <p className="lead">
            Spillway is the server of a web app, to clone, own and read: Express 5, React 19, TypeScript. Replace the
            pages of this tour with yours. They stream, work without JavaScript, and say where to look when something
            breaks.
          </p>
          <pre className={styles.commands}>
            <code>npm ci && npm start</code>
            <code>npm ci && npm test</code>
          </pre>
        </div>
        <dl className={styles.address}>
          <dt>A visitor sees</dt>
          <dd>
            This could not be loaded. Digest: <strong>7K3QM2XA-9F4W0R6B</strong>
          </dd>
          <dt>Your log says</dt>
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
