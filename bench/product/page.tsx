import loader from 'excerpt:src/server/product/pages/cards.ts#cards';
import { Document } from '#product/document.tsx';
import { CardList } from '#product/pages/cards/card-list.tsx';
import { Excerpt } from '#product/ui/excerpt.tsx';
import { Exhibit } from '#product/ui/exhibit.tsx';
import { cards } from '#product-server/pages/cards.ts';

const SECTIONS = ['streaming', 'layout', 'navigation', 'forms', 'static', 'cards', 'api', 'failures'];

/** The page that `npm run bench` requests from this server. */
export const path = '/tour/cards';

/** The same elements, without a router, data or a Content Security Policy. */
export function Page() {
  const list = cards.loader().cards;
  return (
    <Document lang="en" head={null}>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <header className="header">
        <a className="brand" href="/" data-link="intent">
          Spillway
        </a>
        <nav className="nav" aria-label="Tour">
          {SECTIONS.map((name) => (
            <a key={name} href={`/tour/${name}`} data-link="intent">
              {name}
            </a>
          ))}
        </nav>
      </header>
      <main id="main" className="main" tabIndex={-1}>
        <article>
          <title>Cards · Spillway</title>
          <h1>Cards</h1>
          <p className="lead">{list.length} gauges from a loader, rendered for each request.</p>
          <Exhibit code={<Excerpt of={loader} />}>
            <p>
              <code>npm run bench</code> asks for this page over and over, and for the same elements from React on a
              bare Node server. It prints the ratios of requests and of CPU.
            </p>
          </Exhibit>
          <CardList cards={list} />
        </article>
      </main>
      <footer className="footer">
        <p className="next">
          <a href="/tour/api" data-link="intent">
            Next: API →
          </a>
        </p>
        <form method="post" noValidate>
          <input type="hidden" name="_action" value="root.subscribe" />
          <div className="field">
            <label htmlFor="email">News of Spillway by e-mail</label>
            <input id="email" name="email" type="email" autoComplete="email" />
          </div>
          <button type="submit">Subscribe</button>
          <p role="status" />
        </form>
      </footer>
    </Document>
  );
}
