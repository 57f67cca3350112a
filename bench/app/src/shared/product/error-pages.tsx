import type { ErrorPageProps, ErrorPages } from '#engine';

const Page = ({ error }: ErrorPageProps) => <h1>{error.message ?? error.kind}</h1>;

export const errorPages: ErrorPages = {
  notFound: Page,
  forbidden: Page,
  unauthorized: Page,
  public: Page,
  failure: Page,
};
