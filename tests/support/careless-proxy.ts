import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

/** Mistakes that the proxy makes. Without any of these, it works correctly. */
export interface Carelessness {
  /** Speaks TLS. */
  readonly tls?: { readonly key: Buffer; readonly cert: Buffer };
  /** Passes on a response only when it is complete. */
  readonly buffers?: boolean;
  /** Removes Accept-Encoding from requests. */
  readonly takesEncoding?: boolean;
  /** Compresses a compressed response again, but leaves Content-Encoding as it is. */
  readonly compressesTwice?: boolean;
  /** Answers 413 above this size (bytes). */
  readonly maxBody?: number;
  /** Sends no X-Forwarded-* headers, or the ones that the client sent. */
  readonly forwards?: 'nothing' | 'what-it-got';
  /** Replaces the Host header by the server's own address. */
  readonly exchangesHost?: boolean;
  /** Caches every response to a GET. */
  readonly keeps?: boolean;
  /** Replaces the Cache-Control header of assets. */
  readonly agesAssets?: boolean;
  readonly doublesHeaders?: boolean;
  readonly takesToken?: boolean;
  /** Adds this token to requests without one. */
  readonly addsToken?: string;
  /** Adds the secret of an authenticating proxy to every request, and passes on the visitor's user name header. */
  readonly addsProxySecret?: string;
}

export interface CarelessProxy {
  readonly url: string;
  stop(): Promise<void>;
}

interface Kept {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** @param upstream an origin */
export async function startCarelessProxy(upstream: string, careless: Carelessness = {}): Promise<CarelessProxy> {
  const cache = new Map<string, Kept>();
  const server = careless.tls ? createTlsServer(careless.tls, handle) : createServer(handle);

  function handle(incoming: IncomingMessage, reply: ServerResponse): void {
    if (Number(incoming.headers['content-length'] ?? 0) > (careless.maxBody ?? Number.POSITIVE_INFINITY)) {
      incoming.resume();
      reply.writeHead(413).end('Too large.');
      return;
    }
    const kept = incoming.method === 'GET' ? cache.get(incoming.url ?? '') : undefined;
    if (kept) {
      reply.writeHead(kept.status, kept.headers).end(kept.body);
      return;
    }
    const target = new URL(upstream);
    const outgoing = request(
      {
        host: target.hostname,
        port: target.port,
        method: incoming.method,
        path: incoming.url,
        headers: toHeaders(incoming, target.host, careless),
        agent: false,
      },
      (answer) => void handOn(incoming, answer, reply),
    );
    outgoing.on('error', () => reply.destroy());
    incoming.pipe(outgoing);
  }

  async function handOn(incoming: IncomingMessage, answer: IncomingMessage, reply: ServerResponse): Promise<void> {
    const headers = { ...answer.headers };
    const status = answer.statusCode ?? 502;
    if (careless.agesAssets && incoming.url?.startsWith('/assets/')) {
      headers['cache-control'] = 'max-age=60';
      delete headers.etag;
    }
    if (careless.doublesHeaders) headers['x-frame-options'] = ['DENY', 'SAMEORIGIN'] as unknown as string; // Node sends each
    if (!careless.buffers && !careless.compressesTwice && !careless.keeps) {
      reply.writeHead(status, headers);
      reply.flushHeaders();
      answer.pipe(reply);
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
    let body = Buffer.concat(chunks);
    delete headers['transfer-encoding'];
    if (careless.compressesTwice && headers['content-encoding'] !== undefined) body = gzipSync(body);
    headers['content-length'] = String(body.length);
    if (careless.keeps && incoming.method === 'GET') cache.set(incoming.url ?? '', { status, headers, body });
    reply.writeHead(status, headers).end(body);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `${careless.tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function toHeaders(incoming: IncomingMessage, upstream: string, careless: Carelessness): IncomingMessage['headers'] {
  const headers = { ...incoming.headers };
  if (!careless.forwards) {
    headers['x-forwarded-for'] = incoming.socket.remoteAddress ?? '';
    headers['x-forwarded-proto'] = careless.tls ? 'https' : 'http';
    headers['x-forwarded-host'] = headers.host ?? '';
  } else if (careless.forwards === 'nothing') {
    for (const name of ['for', 'proto', 'host']) delete headers[`x-forwarded-${name}`];
  }
  if (careless.exchangesHost) headers.host = upstream;
  if (careless.takesEncoding) delete headers['accept-encoding'];
  if (careless.takesToken) delete headers.authorization;
  if (careless.addsToken !== undefined) headers.authorization ??= `Bearer ${careless.addsToken}`;
  if (careless.addsProxySecret !== undefined) headers['x-auth-proxy-secret'] = careless.addsProxySecret;
  // Hop-by-hop headers (RFC 9110, section 7.6.1).
  delete headers.connection;
  delete headers.upgrade;
  return headers;
}
