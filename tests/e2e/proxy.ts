import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { listen } from '../support/listen.ts';

interface ProxyOptions {
  /** Answers a request itself, and returns true. */
  readonly intercept: (req: IncomingMessage, res: ServerResponse) => boolean;
  /** The headers that are forwarded; by default those of the request. */
  readonly toHeaders?: (req: IncomingMessage) => IncomingMessage['headers'];
}

/** Starts a proxy without buffering in front of an app. */
export async function startProxy(upstream: string, { intercept, toHeaders = (req) => req.headers }: ProxyOptions) {
  const server = createServer((req, res) => {
    if (intercept(req, res)) return;
    // Each request has its own connection: a server that is being replaced can close one while a request is on its way.
    const options = { method: req.method, headers: toHeaders(req), agent: false };
    const asked = request(upstream + req.url, options, (reply) => {
      res.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(res);
      reply.on('error', () => res.destroy());
    });
    asked.on('error', () => (res.headersSent ? res.destroy() : res.writeHead(502).end()));
    res.on('close', () => asked.destroy());
    req.pipe(asked);
  });
  return {
    port: await listen(server),
    cutConnections: () => server.closeAllConnections(),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
