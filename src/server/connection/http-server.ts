import { createServer, IncomingMessage, type RequestListener, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import * as limits from '../limits.ts';
import type { ProxyTrust } from '../request/client-address.ts';
import type { Count } from '../request/counters.ts';
import { describeStatus } from '../request/http-error.ts';
import { sendText } from '../request/send-body.ts';
import { ALL_METHODS, type Step } from '../request/step.ts';
import type { ConnectionLimits } from './admission.ts';
import { trackConnections } from './connections.ts';
import { drainUnreadBodies } from './unread-bodies.ts';
import { limitUnsentBytes } from './unsent-bytes.ts';

export type HeaderList = readonly (readonly [name: string, value: string])[];

export type HttpServer = ReturnType<typeof createHttpServer>;

export interface HttpServerOptions {
  readonly limits: ConnectionLimits;
  readonly trust: ProxyTrust;
  /** How long an idle connection is kept, a whole request can take to arrive, and a connection can be silent (ms). */
  readonly times: { readonly keepAlive: number; readonly request: number; readonly socket: number };
  /** What may wait in memory for clients that do not read (bytes). For tests. */
  readonly maxUnsentBytes?: number | undefined;
  /** Headers of the responses that no step sends. */
  readonly headers: HeaderList;
}

/** Where the server records what reaches no step. */
export interface HttpServerRecords {
  readonly log: Logger;
  readonly count?: Count | undefined;
}

/** Creates a server with a limit on every wait, whose parser errors carry the security headers too. */
export function createHttpServer(
  listener: RequestListener,
  options: HttpServerOptions,
  { log, count }: HttpServerRecords,
) {
  const { trust, times, headers } = options;
  const server = createServer({
    headersTimeout: Math.min(limits.HEADERS_TIMEOUT, times.request),
    requestTimeout: times.request,
    connectionsCheckingInterval: limits.TIMEOUT_CHECK_INTERVAL,
    keepAliveTimeout: times.keepAlive,
    keepAliveTimeoutBuffer: limits.KEEP_ALIVE_BUFFER,
    maxHeaderSize: limits.MAX_HEADER_BYTES,
    requireHostHeader: false, // hostCheck() answers this, with the security headers
    insecureHTTPParser: false,
  });
  server.setTimeout(times.socket);
  const connections = trackConnections(server, { limits: options.limits, trust, log, count });
  drainUnreadBodies(server, connections, trust);
  limitUnsentBytes(server, { sockets: connections.sockets, count, most: options.maxUnsentBytes });
  const closing = new WeakSet<Socket>();

  server.on('request', listener);
  server.on('checkContinue', (req, res) => {
    continueWhenRead(req, res);
    listener(req, res);
  });
  server.on('checkExpectation', (_req, res) => {
    for (const [name, value] of headers) res.setHeader(name, value);
    res.setHeader('Connection', 'close');
    sendText(res, 417, describeStatus(417));
  });
  server.on('connect', (_req, socket) => {
    endSocket(socket as Socket, 405, headers, [['Allow', ALL_METHODS]]);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const peer = socket as Socket;
    if (closing.has(peer)) return;
    const replies = connections.openReplies(peer);
    // A second status line in the middle of a reply would be read as its body.
    const isMidway = replies.some((reply) => reply.headersSent && !reply.writableEnded);
    if (isMidway || !peer.writable || error.code === 'ECONNRESET') {
      peer.destroy();
      return;
    }
    // The bytes that failed to parse belong to the body of this request, or to no request.
    const request = connections.unfinishedRequest(peer);
    const isAnswered = request && !replies.some((reply) => reply.req === request && !reply.headersSent);
    const earlier = replies.findLast(({ req }) => req !== request);
    closing.add(peer); // more broken bytes can follow
    if (earlier && !earlier.headersSent) {
      earlier.setHeader('Connection', 'close'); // its request was complete, so it gets its answer
    } else if (earlier || isAnswered) {
      peer.destroySoon(); // a second answer would belong to a request that was never made
    } else {
      const status = toStatus(error.code);
      count?.('spillway_broken_requests_total', { status: String(status) });
      log.info({ code: error.code, status, address: peer.remoteAddress }, 'A request could not be parsed.');
      endSocket(peer, status, headers);
    }
  });
  return { server, connections };
}

/**
 * Sends `100 Continue` when a step or a handler begins to read the body of a request that waits for it. Node would send
 * it before any step could refuse the request unread.
 */
function continueWhenRead(req: IncomingMessage, res: ServerResponse): void {
  req._read = function readBody(size) {
    req._read = IncomingMessage.prototype._read;
    if (!res.headersSent) res.writeContinue();
    req._read(size);
  };
}

function toStatus(code: string | undefined): number {
  if (code === 'HPE_HEADER_OVERFLOW') return 431;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 408;
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 413;
  return 400;
}

/**
 * Writes a whole reply to a bare socket and closes it, even if the peer does not close its side. The body is empty:
 * the request can be a HEAD, even if it broke before its method could be read.
 */
export function endSocket(socket: Socket, status: number, headers: HeaderList, more: HeaderList = []): void {
  const lines = [...more, ...headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  // After a CONNECT, Node does not listen, and an error that nothing listens to would end the process.
  socket.on('error', () => undefined);
  socket.write(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n` +
      `Content-Length: 0\r\nCache-Control: no-store\r\n${lines}\r\n`,
  );
  socket.destroySoon();
}

/** Requests of one connection that can wait before the socket is paused (count). */
const MAX_PIPELINED = 32;

/**
 * Starts the pipelined requests of a connection one at a time. Their answers leave in this order anyway, and a
 * client that asks for a thousand pages in one packet and reads none must not have all of them rendered and kept in
 * memory. Requests that follow an answer that ends the connection are ignored (RFC 9112, section 9.6), although
 * Node still passes them on.
 */
export function oneAtATime(): Step {
  const waiting = new WeakMap<Socket, number>();

  function change(socket: Socket, by: 1 | -1): void {
    const count = (waiting.get(socket) ?? 0) + by;
    waiting.set(socket, count);
    if (count === MAX_PIPELINED && by > 0) socket.pause();
    else if (count === MAX_PIPELINED - 1 && by < 0) socket.resume();
  }

  return function oneAtATime(req, res, next) {
    if (req.socket.writableEnded) return;
    // Node gives a reply its socket when the reply before it has been handed over.
    if (res.socket !== null) return next();
    const { socket } = req;
    change(socket, 1);
    res.once('socket', () => {
      change(socket, -1);
      next();
    });
  };
}
