import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Dsn, parseDsn } from '../../src/server/sentry/dsn.ts';

/** A request to the upstream. */
export interface Received {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** How the upstream responds. A function sends the response itself, or none. */
export type Behaviour =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  | ((request: IncomingMessage, response: ServerResponse) => void);

export interface FakeUpstream {
  readonly dsn: Dsn;
  readonly received: Received[];
  /** The bodies that were answered with 200. */
  readonly taken: string[];
  /** The highest number of requests that were waiting for a response simultaneously. */
  readonly mostAtOnce: () => number;
  behave(behaviour: Behaviour): void;
  close(): Promise<void>;
}

/** Starts a local error-reporting service that accepts everything until `behave` changes that. */
export async function startUpstream(): Promise<FakeUpstream> {
  let behaviour: Behaviour = { status: 200 };
  let open = 0;
  let most = 0;
  const received: Received[] = [];
  const taken: string[] = [];

  const server = createServer((request, response) => {
    open += 1;
    most = Math.max(most, open);
    response.once('close', () => {
      open -= 1;
    });
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      received.push({ url: request.url ?? '', headers: request.headers, body });
      if (typeof behaviour === 'function') {
        behaviour(request, response);
        return;
      }
      if (behaviour.status === 200) taken.push(body.toString());
      response.writeHead(behaviour.status, behaviour.headers).end('{"secret":"answer"}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const dsn = parseDsn(`http://publickey@127.0.0.1:${(server.address() as AddressInfo).port}/42`);
  if (!dsn) throw new Error('The DSN of the fake upstream is invalid.');

  return {
    dsn,
    received,
    taken,
    mostAtOnce: () => most,
    behave(next) {
      behaviour = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
