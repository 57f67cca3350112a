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

  it('shows on which side a failure happened, and the sentence with the host', () => {
    const sentence = 'Application error: a client-side exception has occurred while loading the host weir.example';
    const html = render('failure');
    expect(html).toContain('<h1>Something went wrong on our side</h1>');
    expect(html).toContain('<p>Our server failed. Try again in a minute.</p>');
    expect(html).toContain(`<p class="error-sentence">${sentence}</p>`);
    expect(html).toContain('<title>Something went wrong on our side</title>');
    expect(render('failure', { ...ERRORS.failure, inBrowser: true })).toContain(
      '<h1>Something went wrong in your browser</h1>',
    );
  });

  it('shows the digest if there is one, and no line for it otherwise', () => {
    expect(render('failure')).toContain('Digest: <code>7K3QM2XA-9F4W0R6B</code>');
    expect(render('failure', { kind: 'failure', status: 500 })).not.toContain('Digest');
    const forDesk = render('failure', { ...ERRORS.failure, url: '/desk/7K3QM2XA-9F4W0R6B' });
    expect(forDesk).toContain('Digest: <code><a href="/desk/7K3QM2XA-9F4W0R6B">7K3QM2XA-9F4W0R6B</a></code>');
  });

  it('reserves a line for the digest of a browser failure, which arrives later', () => {
    const failure = { ...ERRORS.failure, inBrowser: true } as const;
    expect(render('failure', { ...failure, digest: undefined })).toContain(
      '<p role="status" class="error-digest"></p>',
    );
    expect(render('failure', failure)).toMatch(/role="status"[^>]*>Digest: <code>7K3QM2XA-9F4W0R6B/);
    expect(render('failure', failure).match(/Digest/g)).toHaveLength(1);
  });

  it.each(['notFound', 'forbidden', 'unauthorized'] as const)('%s shows its message', (kind) => {
    expect(render(kind, { ...ERRORS[kind], message: 'The sluice is closed.' })).toContain(
      '<p>The sluice is closed.</p>',
    );
  });
});
