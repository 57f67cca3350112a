import type { ReactNode } from 'react';
import { ErrorDigest, type ErrorPageProps, type ErrorPages } from '#engine';

/** The pages that visitors see for errors. Their styles are in the root layout's `global.css`. */
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
      <p>{error.message ?? 'There is no page at this address. It may have moved, or the link is wrong.'}</p>
      <WayHome />
    </ErrorPage>
  );
}

function Forbidden({ error }: ErrorPageProps) {
  return (
    <ErrorPage title="Not allowed" status={403}>
      <p>{error.message ?? 'Your account does not have access to this page. Ask an administrator for access.'}</p>
      <WayHome />
    </ErrorPage>
  );
}

function Unauthorized({ error }: ErrorPageProps) {
  return (
    <ErrorPage title="Sign in first" status={401}>
      <p>{error.message ?? 'Sign in, then open this page again.'}</p>
      <WaysOn />
    </ErrorPage>
  );
}

function PublicError({ error }: ErrorPageProps) {
  return (
    <ErrorPage title={error.message ?? 'Something went wrong'} status={error.status}>
      {error.status === 410 ? <WayHome /> : <WaysOn />}
    </ErrorPage>
  );
}

function Failure({ error, host }: ErrorPageProps) {
  const sentence = `Application error: a client-side exception has occurred while loading the host ${host}`;
  return (
    <ErrorPage
      title={`Something went wrong ${error.inBrowser ? 'in your browser' : 'on our side'}`}
      role={error.inBrowser && 'alert'}
    >
      <p className="error-sentence">{sentence}</p>
      {/* In the browser it arrives when the server has received the report, so its line is reserved: nothing moves when it
      appears, and screen readers announce it. */}
      {(error.digest || error.inBrowser) && (
        <p {...(error.inBrowser && { role: 'status', className: 'error-digest' })}>
          {error.digest && (
            <>
              Digest: <ErrorDigest error={error} />
            </>
          )}
        </p>
      )}
      <p>
        {error.inBrowser
          ? 'Our code failed in your browser. Reload the page. If that does not help, try another browser.'
          : 'Our server failed. Try again in a minute.'}
      </p>
      <WaysOn />
    </ErrorPage>
  );
}

function WayHome() {
  return (
    <p>
      <a href="/">Go to the start page</a>
    </p>
  );
}

function WaysOn() {
  return (
    <p>
      {/* biome-ignore lint/a11y/useValidAnchor: an empty href reloads the page */}
      <a href="">Try again</a> or <a href="/">go to the start page</a>
    </p>
  );
}

interface ErrorPageFrameProps {
  title: string;
  status?: number;
  /** For a page that appears without a navigation. */
  role?: 'alert' | undefined;
  children: ReactNode;
}

function ErrorPage({ title, status, role, children }: ErrorPageFrameProps) {
  return (
    <div className="error-page">
      <title>{title}</title>
      <meta name="robots" content="noindex" />
      {status && <p className="error-status">{status}</p>}
      <div role={role}>
        <h1>{title}</h1>
      </div>
      {children}
    </div>
  );
}
