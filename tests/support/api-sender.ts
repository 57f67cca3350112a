import http, { type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { createHttpServer } from '../../src/server/engine/connection/http-server.ts';
import type { ApiReply } from './api-document.ts';
import type { ApiRequest } from './api-requests.ts';
import { TEST_SERVER } from './app.ts';

/** Sends requests to an app in this process, one after the other on one connection. */
export interface ApiSender {
  /** The app that answers from now on. */
  serve(app: RequestListener): void;
  send(request: Pick<ApiRequest, 'method' | 'target' | 'headers' | 'body'>): Promise<ApiReply>;
  close(): void;
}

export async function startApiSender(): Promise<ApiSender> {
  let listener: RequestListener = (_request, response) => void response.end();
  const options = { ...TEST_SERVER, log: pino({ enabled: false }) };
  const { server } = createHttpServer((request, response) => listener(request, response), options);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

  return {
    serve(app) {
      listener = app;
    },
    send({ method, target, headers, body }) {
      return new Promise((resolve, reject) => {
        const length = body === undefined ? {} : { 'Content-Length': body.length };
        const asked = http.request(
          { port, agent, method, path: target, headers: { ...headers, ...length } },
          (reply) => {
            const chunks: Buffer[] = [];
            reply.on('data', (chunk: Buffer) => chunks.push(chunk));
            reply.on('error', reject);
            reply.on('end', () => {
              resolve({
                status: reply.statusCode ?? 0,
                headers: reply.headers,
                text: Buffer.concat(chunks).toString('utf8'),
              });
            });
          },
        );
        asked.on('error', reject);
        asked.end(body);
      });
    },
    close() {
      agent.destroy();
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A request as a command for a shell. */
export function toCurl({
  method,
  target,
  headers,
  body,
}: Pick<ApiRequest, 'method' | 'target' | 'headers' | 'body'>): string {
  const words = ['curl', '-i', '--path-as-is', '-X', method, quote(`http://localhost:3000${target}`)];
  for (const [name, value] of Object.entries(headers))
    words.push('-H', quote(value === '' ? `${name};` : `${name}: ${value}`));
  if (body !== undefined) words.push('--data-binary', quote(shorten(body.toString('latin1'))));
  return words.join(' ');
}

/** Escapes what is not printable ASCII as bytes. */
function quote(text: string): string {
  if (/^[\x20-\x26\x28-\x7e]*$/.test(text)) return `'${text}'`;
  const escaped = text.replace(/[\\']/g, '\\$&').replace(/[^\x20-\x7e]/g, (char) => {
    return `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return `$'${escaped}'`;
}

function shorten(text: string): string {
  return text.length > 2000 ? `${text.slice(0, 2000)}… (${text.length} bytes)` : text;
}
