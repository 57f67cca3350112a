import type { ReactNode } from 'react';
import { type ErrorPageProps, type ErrorPages, FailureHelp } from '#engine';

/** What a visitor sees in the place of a page that ended otherwise. Looks come from the root layout's `global.css`. */
export const errorPages: ErrorPages = {
  notFound: NotFound,
  forbidden: Forbidden,
  unauthorized: Unauthorized,
  public: PublicError,
  failure: Failure,
};

function NotFound({ error }: ErrorPageProps) {
  return (
    <ErrorPage title="Page not found" status={404}>
      <p>{error.message ?? 'There is nothing at this address. It may have moved, or the link to it is wrong.'}</p>
      <p>
        <a href="/">Go to the start page</a>
      </p>
    </ErrorPage>
  );
}

function Forbidden({ error }: ErrorPageProps) {
  return (
    <ErrorPage title="Not allowed" status={403}>
      <p>{error.message ?? 'You are known here, but this page is not open to you. Ask somebody who may grant it.'}</p>
      <p>
        <a href="/">Go to the start page</a>
      </p>
    </ErrorPage>
  );
}

function Unauthorized({ error }: ErrorPageProps) {
  return (
    <ErrorPage title="Sign in first" status={401}>
      <p>{error.message ?? 'This page is for visitors who are signed in. Sign in, then open it again.'}</p>
      <WaysOn />
    </ErrorPage>
  );
}

function PublicError({ error }: ErrorPageProps) {
  return (
    <ErrorPage title={error.message ?? 'This did not work'} status={error.status}>
      <WaysOn />
    </ErrorPage>
  );
}

function Failure({ error, host }: ErrorPageProps) {
  return (
    <ErrorPage title={`Application error: a client-side exception has occurred while loading the host ${host}`}>
      {error.digest && !error.inBrowser && (
        <p>
          Digest: <code>{error.digest}</code>
        </p>
      )}
      <p>
        {error.inBrowser
          ? 'It happened in your browser, in our code. Load the page again. If that does not help, try another browser.'
          : 'It happened on our server, so your browser is not the cause. Try again in a minute.'}
      </p>
      <WaysOn />
      {error.inBrowser && <LateDigest digest={error.digest} />}
      <FailureHelp error={error} />
    </ErrorPage>
  );
}

/**
 * A failure of the browser's own gets its address once the server has heard of it. The line has its
 * place from the beginning and stands last, so that nothing moves; it is read out when the words come.
 */
function LateDigest({ digest }: { digest: string | undefined }) {
  return (
    <p role="status" className="error-digest">
      {digest && (
        <>
          Digest: <code>{digest}</code>
        </>
      )}
    </p>
  );
}

function WaysOn() {
  return (
    <p>
      {/* biome-ignore lint/a11y/useValidAnchor: an empty address is this page's own, and loads it again */}
      <a href="">Try again</a> or <a href="/">go to the start page</a>
    </p>
  );
}

interface ErrorPageFrameProps {
  title: string;
  status?: number;
  children: ReactNode;
}

function ErrorPage({ title, status, children }: ErrorPageFrameProps) {
  return (
    <div className="error-page">
      <title>{title}</title>
      <meta name="robots" content="noindex" />
      {status && <p className="error-status">{status}</p>}
      <h1>{title}</h1>
      {children}
    </div>
  );
}
