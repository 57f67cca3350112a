import forbidden from 'excerpt:src/server/product/pages/fail-forbidden.ts#failForbidden';
import late from 'excerpt:src/server/product/pages/fail-late.ts#readBrokenGauge';
import loader from 'excerpt:src/server/product/pages/fail-loader.ts#failLoader';
import lateNotFound from 'excerpt:src/server/product/pages/late-not-found.ts#lateNotFound';
import page from 'excerpt:src/shared/product/error-pages.tsx#Failure';
import { Link, type PageProps } from '#engine';
import type { failures } from '#product-server/pages/failures.ts';
import { Excerpt } from '../../ui/excerpt.tsx';
import { Exhibit } from '../../ui/exhibit.tsx';
import { Page } from '../../ui/page.tsx';
import styles from './failures.module.css';

const FAILURES = [
  { to: '/tour/fail/loader', text: 'A loader throws. The page has status 500 and shows an address.' },
  { to: '/tour/fail/render', text: 'A component throws on the server.' },
  { to: '/tour/fail/late', text: 'A promise rejects after the page was sent. Only its own place fails.' },
  { to: '/tour/fail/client', text: 'An event handler throws, or a component throws after a click.' },
  { to: '/tour/fail/effect', text: 'An effect throws in the browser.' },
  { to: '/tour/fail/hydration', text: 'The browser renders something different from the server.' },
  { to: '/tour/fail/chunk', text: 'A JavaScript file cannot be loaded.' },
];

const RESPONSES = [
  { to: '/tour/fail/unauthorized', text: '401 from a loader' },
  { to: '/tour/fail/forbidden', text: '403 from a guard' },
  { to: '/tour/fail/not-found', text: '404 from a component' },
];

const LATE_RESPONSES = [
  { to: '/tour/late-not-found', text: '404 from a promise, after the page was sent' },
  { to: '/tour/late-redirect', text: 'A redirect from a promise, after the page was sent' },
];

export default function Failures({ data }: PageProps<typeof failures>) {
  const { enabled } = data;
  return (
    <Page
      title="Failures"
      lead="When something breaks, visitors never see a message or a stack. They see an address, which leads you to the cause."
    >
      <Exhibit code={<Excerpt of={loader} />}>
        <h2>A page breaks</h2>
        {enabled ? (
          <form action="/tour/fail/loader">
            <button type="submit">Break something</button>
          </form>
        ) : (
          <p>
            The failures of this tour are switched off. Set <code>TOUR_FAILURES=1</code> to try them.
          </p>
        )}
        <p>
          An address is all that visitors see. Its first half names the kind of failure. It is the same each time, after
          a restart and on every replica. The second half names this one occurrence. The log has both.
        </p>
      </Exhibit>
      {enabled && (
        <>
          <Exhibit
            code={
              <>
                <Excerpt of={late} />
                <Excerpt of={page} />
              </>
            }
          >
            <h2>Every way to break</h2>
            <Links links={FAILURES} />
            <p>
              An API handler that throws answers with <code>problem+json</code>: see{' '}
              <Link to="/tour/api">the API page</Link>.
            </p>
          </Exhibit>
          <Exhibit code={<Excerpt of={forbidden} />}>
            <h2>Not a failure: 401, 403, 404</h2>
            <Links links={RESPONSES} />
          </Exhibit>
        </>
      )}
      <Exhibit code={<Excerpt of={lateNotFound} />}>
        <h2>The same, after the page was sent</h2>
        <Links links={LATE_RESPONSES} />
      </Exhibit>
    </Page>
  );
}

/** No prefetching, because a prefetch would already run the failing loader. */
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
