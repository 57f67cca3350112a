import type { ReactNode } from 'react';
import type { ErrorPageProps, ErrorPages } from '#engine';
import { DESK_PATH } from './href.ts';

/** The desk's error pages for signed-in operators. Others see the form of `pages/root`. */
export const errorPages: ErrorPages = {
  notFound: NotFound,
  forbidden: Forbidden,
  unauthorized: Unauthorized,
  public: PublicError,
  failure: Failure,
};

function NotFound({ error }: ErrorPageProps) {
  return (
    <ErrorPage title="Page not found">
      <p>
        {error.message ?? 'There is no incident at this address. It may have been deleted, or the address is wrong.'}
      </p>
      <ToList />
    </ErrorPage>
  );
}

function Forbidden() {
  return (
    <ErrorPage title="Operators only">
      <p>Your token is read-only. Ask for an operator token.</p>
      <ToList />
    </ErrorPage>
  );
}

function Unauthorized() {
  return (
    <ErrorPage title="Your session has expired">
      <p>
        {/* biome-ignore lint/a11y/useValidAnchor: an empty href reloads this page, which shows the sign-in form */}
        <a href="">Sign in again</a>
      </p>
    </ErrorPage>
  );
}

function PublicError({ error }: ErrorPageProps) {
  return (
    <ErrorPage title={error.message ?? 'Something went wrong'}>
      {error.status === 410 ? <ToList /> : <Again />}
    </ErrorPage>
  );
}

function Failure({ error }: ErrorPageProps) {
  return (
    <ErrorPage title="The desk failed" role={error.inBrowser && 'alert'}>
      <p>
        The failure was recorded
        {error.digest && (
          <>
            {' '}
            as <code>{error.digest}</code>
          </>
        )}
        . Your site is not affected.
      </p>
      <Again />
    </ErrorPage>
  );
}

function Again() {
  return (
    <p>
      {/* biome-ignore lint/a11y/useValidAnchor: an empty href reloads this page */}
      <a href="">Try again</a> or <a href={DESK_PATH}>go to the list</a>
    </p>
  );
}

function ToList() {
  return (
    <p>
      <a href={DESK_PATH}>Go to the list</a>
    </p>
  );
}

interface ErrorPageFrameProps {
  title: string;
  /** For a page that appears without a navigation. */
  role?: 'alert' | undefined;
  children: ReactNode;
}

function ErrorPage({ title, role, children }: ErrorPageFrameProps) {
  return (
    <div className="error-page">
      <title>{`${title} · Desk`}</title>
      <div role={role}>
        <h1>{title}</h1>
      </div>
      {children}
    </div>
  );
}
