import handler from 'excerpt:src/server/product/api/fail/router.ts#failRouter';
import forbidden from 'excerpt:src/server/product/pages/fail-forbidden.ts#failForbidden';
import late from 'excerpt:src/server/product/pages/fail-late.ts#readBrokenGauge';
import loader from 'excerpt:src/server/product/pages/fail-loader.ts#failLoader';
import lateOutcome from 'excerpt:src/server/product/pages/late-not-found.ts#lateNotFound';
import page from 'excerpt:src/shared/product/error-pages.tsx#Failure';
import { Link, useData } from '#engine';
import { Excerpt } from '../../ui/excerpt.tsx';
import { Exhibit } from '../../ui/exhibit.tsx';
import { Page } from '../../ui/page.tsx';
import { Addresses } from './addresses.tsx';
import styles from './failures.module.css';

export interface FailuresData {
  enabled: boolean;
}

const FAILURES = [
  { to: '/tour/fail/loader', text: 'A loader throws: the page has status 500 and a digest' },
  { to: '/tour/fail/render', text: 'A component throws on the server' },
  { to: '/tour/fail/late', text: 'A promise is rejected after the page was sent: it costs its own place alone' },
  { to: '/tour/fail/client', text: 'An event handler throws, or a component does after a click' },
  { to: '/tour/fail/effect', text: 'An effect throws in the browser' },
  { to: '/tour/fail/hydration', text: 'The browser renders something else than the server did' },
  { to: '/tour/fail/chunk', text: 'A piece of code cannot be loaded' },
];

const OUTCOMES = [
  { to: '/tour/fail/unauthorized', text: '401 from a loader' },
  { to: '/tour/fail/forbidden', text: '403 from a guard' },
  { to: '/tour/fail/not-found', text: '404 from a component' },
];

const LATE_OUTCOMES = [
  { to: '/tour/late-not-found', text: '404 from a promise, after the page was sent' },
  { to: '/tour/late-redirect', text: 'A redirect from a promise, after the page was sent' },
];

export default function Failures() {
  const { enabled } = useData<FailuresData>();
  return (
    <Page
      title="Failures"
      lead="What a visitor sees when something breaks: never a message or a stack, always an address that leads to what happened."
    >
      {enabled ? (
        <>
          <Exhibit code={<Excerpt of={handler} />}>
            <h2>An address</h2>
            <p>Whatever fails gets one. Make a handler of the API throw, more than once:</p>
            <Addresses />
          </Exhibit>
          <Exhibit
            code={
              <>
                <Excerpt of={loader} />
                <Excerpt of={late} />
                <Excerpt of={page} />
              </>
            }
          >
            <h2>Something breaks</h2>
            <Links links={FAILURES} />
          </Exhibit>
          <Exhibit code={<Excerpt of={forbidden} />}>
            <h2>A page ends otherwise, on purpose</h2>
            <Links links={OUTCOMES} />
          </Exhibit>
        </>
      ) : (
        <p>
          The pages that fail are switched off here. Set <code>TOUR_FAILURES=1</code> to have them.
        </p>
      )}
      <Exhibit code={<Excerpt of={lateOutcome} />}>
        <h2>On purpose, but late</h2>
        <Links links={LATE_OUTCOMES} />
      </Exhibit>
    </Page>
  );
}

/** Not prefetched: a loader that fails would be an incident that nobody asked for. */
function Links({ links }: { links: { to: string; text: string }[] }) {
  return (
    <ul className={styles.links}>
      {links.map(({ to, text }) => (
        <li key={to}>
          <Link to={to} prefetch="none">
            {to}
          </Link>
          <span>{text}</span>
        </li>
      ))}
    </ul>
  );
}
