import type { AddressInfo } from 'node:net';
import express from 'express';
import { renderToPipeableStream, renderToString } from 'react-dom/server';
import { readStation } from '../src/server/product/data.ts';
import { Station } from '../src/shared/product/api.ts';
import { toScript } from './engine.tsx';
import { pages, staticPages } from './pages.tsx';

// Express 5 and React, as the documentation of both shows it: streaming, and data with which a browser could hydrate.

/** Set by the build. With it, the server has what production usually adds, and checks the answers of its API. */
declare const HAS_MIDDLEWARE: boolean;

const app = express();
app.disable('x-powered-by');
if (HAS_MIDDLEWARE) app.use((await import('./middleware.ts')).middleware);

for (const [path, page] of Object.entries(pages)) {
  app.get(path, (request, response, next) => {
    const { element, data } = page(String(request.query.q ?? ''));
    const { pipe } = renderToPipeableStream(element, {
      bootstrapScriptContent: `window.data=${toScript(data)}`,
      onShellReady() {
        response.type('html');
        pipe(response);
      },
      onShellError: next,
      onError: console.error,
    });
  });
}

for (const [path, element] of Object.entries(staticPages)) {
  let html: string | undefined;
  app.get(path, (_request, response) => {
    html ??= `<!DOCTYPE html>${renderToString(element)}`;
    response.send(html);
  });
}

app.get('/api/stations/:id', (request, response) => {
  const station = readStation(Number(request.params.id));
  if (station) response.json(HAS_MIDDLEWARE ? Station.parse(station) : station);
  else response.status(404).json({ error: 'There is no station with this id.' });
});

const server = app.listen(0, '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
