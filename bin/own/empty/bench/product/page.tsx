import { Document } from '#product/document.tsx';

/** The page that `npm run bench` requests from this server. */
export const path = '/';

/**
 * The same elements without a router, data or a Content Security Policy. Write the elements of your page here. An import
 * of the page would also measure your components, and break if you remove the page.
 */
export function Page() {
  return (
    <Document lang="en" head={null}>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <header className="header">
        <a className="brand" href="/" data-link="intent" aria-current="page">
          Your app
        </a>
      </header>
      <main id="main" className="main" tabIndex={-1}>
        <article>
          <title>Your app</title>
          <h1>Your app runs</h1>
          {Array.from({ length: 12 }, (_, index) => (
            <p key={String(index)}>
              <code>line {index}</code> of the page
            </p>
          ))}
        </article>
      </main>
    </Document>
  );
}
