import type { ErrorPageProps, ErrorPages } from '#engine';

export const errorPages: ErrorPages = {
  notFound: ErrorPage,
  forbidden: ErrorPage,
  unauthorized: ErrorPage,
  public: ErrorPage,
  failure: ErrorPage,
};

function ErrorPage({ error }: ErrorPageProps) {
  return (
    <>
      <title>{error.kind}</title>
      <h1>{error.message ?? error.kind}</h1>
      <p>{error.digest}</p>
    </>
  );
}
