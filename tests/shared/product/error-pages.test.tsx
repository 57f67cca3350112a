import type { ComponentType } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { MemoryRouter } from 'react-router';
import { describe, expect, it } from 'vitest';
import type { ErrorPageProps, ErrorPages, PageError } from '#engine';
import { errorPages } from '#product/error-pages.tsx';

const ERRORS: Record<keyof ErrorPages, PageError> = {
  notFound: { kind: 'not-found', status: 404 },
  forbidden: { kind: 'forbidden', status: 403 },
  unauthorized: { kind: 'unauthorized', status: 401 },
  public: { kind: 'public', status: 503, message: 'Closed for the flood.' },
  failure: { kind: 'failure', status: 500, digest: '7K3QM2XA-9F4W0R6B' },
};
const KINDS = Object.keys(ERRORS) as (keyof ErrorPages)[];

function render(kind: keyof ErrorPages, error = ERRORS[kind]): string {
  const Page: ComponentType<ErrorPageProps> = errorPages[kind];
  return renderToStaticMarkup(
    <MemoryRouter>
      <Page error={error} host="weir.example" />
    </MemoryRouter>,
  );
}

describe('errorPages', () => {
  it.each(KINDS)('%s has one heading, a title, noindex and a link to the home page', (kind) => {
    const html = render(kind);
    expect(html.match(/<h1/g)).toHaveLength(1);
    expect(html).toMatch(/<title>[^<]+<\/title>/);
    expect(html).toContain('<meta name="robots" content="noindex"/>');
    expect(html).toContain('<a href="/">');
  });

  it.each<[what: string, change: Partial<PageError>, line: string]>([
    ['as text', {}, 'Digest: <code>7K3QM2XA-9F4W0R6B</code>'],
    ['as a link', { url: '/desk/7K3QM2XA' }, 'Digest: <code><a href="/desk/7K3QM2XA">7K3QM2XA-9F4W0R6B</a></code>'],
    [
      'in a line that is there before it',
      { inBrowser: true, digest: undefined },
      '<p role="status" class="error-digest"></p>',
    ],
  ])('shows the digest of a failure %s', (_what, change, line) => {
    expect(render('failure', { ...ERRORS.failure, ...change })).toContain(line);
  });
});
