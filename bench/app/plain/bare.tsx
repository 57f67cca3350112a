import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { renderToPipeableStream, renderToString } from 'react-dom/server';
import { readStation } from '../src/server/product/data.ts';
import { pages, staticPages } from './pages.tsx';

// The reference: `node:http` and React, with nothing that an app needs besides.

const HTML = 'text/html; charset=utf-8';
const buffers = new Map(
  Object.entries(staticPages).map(([path, page]) => [path, Buffer.from(`<!DOCTYPE html>${renderToString(page)}`)]),
);

const server = createServer((request, response) => {
  const [path = '', search] = (request.url ?? '').split('?');
  const page = pages[path];
  if (page) return render(page(new URLSearchParams(search).get('q') ?? '').element, response);
  const buffer = buffers.get(path);
  if (buffer) return send(response, HTML, buffer);
  if (path.startsWith('/api/stations/')) {
    return send(response, 'application/json; charset=utf-8', JSON.stringify(readStation(Number(path.slice(14)))));
  }
  response.writeHead(404).end();
});

function render(element: React.ReactNode, response: ServerResponse): void {
  const { pipe } = renderToPipeableStream(element, {
    onShellReady() {
      response.setHeader('Content-Type', HTML);
      pipe(response);
    },
    onError: console.error,
  });
}

function send(response: ServerResponse, type: string, body: string | Buffer): void {
  response.writeHead(200, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) }).end(body);
}

server.listen(0, '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
