import { Document } from '../../src/shared/product/document.tsx';
import Home from '../../src/shared/product/pages/home/home.tsx';

/** The page that `npm run bench` asks this server for. */
export const path = '/';

/** The same elements, written down: no router, no data, no policy. */
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
        <Home />
      </main>
    </Document>
  );
}
