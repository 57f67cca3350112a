import type { ComponentType, ReactNode } from 'react';
import type { PageError } from '../wire/payload.ts';
import { type ErrorPageProps, type ErrorPages, useEngine } from './engine-context.ts';

/** The owner's page for an error; `inPlace` a line that stands where a late value was to come. */
export function ErrorView({ error, inPlace = false }: { error: PageError; inPlace?: boolean }): ReactNode {
  const { errorPages, host } = useEngine();
  if (inPlace) return <ErrorLine error={error} />;
  const Page = pickErrorPage(errorPages, error);
  return <Page error={error} host={host} />;
}

function pickErrorPage(pages: ErrorPages, error: PageError): ComponentType<ErrorPageProps> {
  switch (error.kind) {
    case 'not-found':
      return pages.notFound;
    case 'forbidden':
      return pages.forbidden;
    case 'unauthorized':
      return pages.unauthorized;
    case 'public':
      return pages.public;
    default:
      return pages.failure;
  }
}

function ErrorLine({ error }: { error: PageError }): ReactNode {
  return (
    <p role="alert">
      {error.message ?? LINES[error.kind]}
      {error.digest ? (
        <>
          {' '}
          Digest: <code>{error.digest}</code>
        </>
      ) : null}
    </p>
  );
}

const LINES: Record<PageError['kind'], string> = {
  'not-found': 'This could not be found.',
  forbidden: 'You may not see this.',
  unauthorized: 'Sign in to see this.',
  public: 'This could not be loaded.',
  failure: 'This could not be loaded.',
  redirect: 'This has moved.',
};
