import { createServer } from 'node:http';
import type { ReactNode } from 'react';
import { renderToPipeableStream } from 'react-dom/server';
import { cards } from '../src/server/product/pages/cards.ts';
import { Document } from '../src/shared/product/document.tsx';
import { CardList } from '../src/shared/product/pages/cards/card-list.tsx';

const SECTIONS = ['streaming', 'layout', 'navigation', 'forms', 'static', 'cards', 'api', 'failures'];

/** The elements of the page `/tour/cards` and its layout, written down: no router, no data, no policy. */
function Cards({ list }: { list: ReturnType<typeof cards.loader>['cards'] }): ReactNode {
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
          <CardList cards={list} />
        </article>
      </main>
      <footer className="footer">
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

const server = createServer((_request, response) => {
  const { pipe } = renderToPipeableStream(<Cards list={cards.loader().cards} />, {
    onShellReady() {
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      pipe(response);
    },
    onError: console.error,
  });
});
server.listen(Number(process.env.PORT), '127.0.0.1', () =>
  console.log(`Listening on http://127.0.0.1:${process.env.PORT}`),
);
