import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { renderToPipeableStream, renderToString } from 'react-dom/server';
import { readStation, storeReadings } from '../src/server/product/data.ts';
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
  if (buffer) return send(response, 200, HTML, buffer);
  if (path.startsWith('/api/stations/')) return sendJson(response, 200, readStation(Number(path.slice(14))));
  if (path === '/api/readings') return readJson(request, (body) => sendJson(response, 201, storeReadings(body)));
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

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  send(response, status, 'application/json; charset=utf-8', JSON.stringify(body));
}

function send(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) }).end(body);
}

function readJson(request: IncomingMessage, done: (body: never) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => done(JSON.parse(Buffer.concat(chunks).toString()) as never));
}

server.listen(0, '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
