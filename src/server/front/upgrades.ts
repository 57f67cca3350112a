import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { Second } from '../../shared/units.ts';
import type { UpgradedSockets } from '../connection/drain.ts';
import { endSocket, type HttpServer } from '../connection/http-server.ts';
import { errorHandler } from '../errors/error-handler.ts';
import type { Funnel } from '../errors/funnel.ts';
import type { ScrubPath } from '../errors/scrub/secret-path.ts';
import type { ProxyTrust } from '../request/client-address.ts';
import type { Origins } from '../request/origins.ts';
import { createExpress } from '../request/proxy-trust.ts';
import { inContext, requestId, requestInfo } from '../request/request-info.ts';
import { chain, type Step } from '../request/step.ts';
import { crossSite } from './cross-site.ts';
import { hostCheck } from './host-check.ts';
import { normalizeUrl } from './normalize-url.ts';
import { securityHeaders, toSecurityHeaders } from './security-headers.ts';

/**
 * Takes over a socket: answers the handshake and speaks WebSocket from then on, for example with the package `ws`.
 * The request has passed the product's steps, so it can carry a user.
 */
type UpgradeHandler = (request: Request, socket: Duplex, head: Buffer) => void | Promise<void>;

/** Handlers by exact path, without a query: `{ '/live': (request, socket, head) => … }`. */
export type Upgrades = Readonly<Record<`/${string}`, UpgradeHandler>>;

/** Who answers upgrades. */
interface SiteUpgrades {
  readonly upgrades: Upgrades;
  /** The server of an existing app. Its own upgrade listeners get all other paths, and apply their own rules. */
  readonly existing?: Server | undefined;
  /** The product's steps: an access check for pages also protects sockets. */
  readonly steps: readonly RequestHandler[];
}

/** As the other requests of its port have them. */
interface UpgradeParts {
  readonly rules: {
    readonly origins: Origins;
    readonly trust: ProxyTrust;
    /** Removes credentials of operators from the request, before the product sees it. */
    readonly takeCredentials: Step;
  };
  readonly records: { readonly log: Logger; readonly scrubPath: ScrubPath; readonly funnel: Funnel };
}

/** A close frame with the code 1001, "going away", unmasked as from a server (RFC 6455, section 5.5.1). */
const GOING_AWAY = Buffer.from([0x88, 0x02, 0x03, 0xe9]);

/** How long a peer can take to answer that (ms). */
const CLOSE_FRAME_WAIT = 1 * Second;

/** How long a peer can be silent before the system checks that it is still there (ms). */
const KEEP_ALIVE_DELAY = 30 * Second;

/**
 * Accepts WebSockets on exact paths, under the rules of posts: the host is checked, and a handshake that another site
 * starts in a visitor's browser is refused. Other upgrades, and those on other paths, remain ordinary requests.
 */
export function handleUpgrades(
  { server, connections }: Pick<HttpServer, 'server' | 'connections'>,
  { rules, records }: UpgradeParts,
  { upgrades, existing, steps }: SiteUpgrades,
): UpgradedSockets {
  const { origins, trust, takeCredentials } = rules;
  const { log, funnel, scrubPath } = records;
  const handlers = new Map<string, UpgradeHandler>(Object.entries(upgrades));
  const sockets = createSockets();
  const takesAll = existing !== undefined && existing.listenerCount('upgrade') > 0;
  if (handlers.size === 0 && !takesAll) return { has: () => false, closeAll: () => undefined };

  const headers = toSecurityHeaders(origins);
  const fail = errorHandler({ funnel });
  const owners = createExpress(trust);
  if (steps.length > 0) owners.use(...steps);

  const front: Step[] = [
    requestId({ origins, trust }),
    takeCredentials,
    securityHeaders(headers),
    normalizeUrl(),
    hostCheck({ origins, trust, log }),
    inContext,
    crossSite({ origins, log, covers: (path) => handlers.has(path), isSafe: () => false }),
    (req, res, next) => void owners(req as Request, res as Response, next),
  ];
  const enter = (head: Buffer) => chain([...front, (req, res) => accept(req as Request, res, head)], fail);

  function accept(req: Request, res: ServerResponse, head: Buffer): void {
    const { socket } = req;
    if (res.headersSent || socket.destroyed) return;
    const info = requestInfo(req);
    if (handlers.has(info.path)) info.route = info.path;
    res.detachSocket(socket);
    if (!sockets.add(socket)) return;
    const readStatus = watchStatus(socket);
    socket.once('close', () => writeLine(req, readStatus(), socket.bytesWritten));
    Promise.resolve()
      .then(() => {
        const handler = handlers.get(info.path);
        if (handler) return handler(req, socket, head);
        existing?.emit('upgrade', req, socket, head);
      })
      .catch((error: unknown) => {
        funnel.fail(error, { origin: 'step', info, headers: req.headers });
        socket.destroy();
      });
  }

  function writeLine(req: IncomingMessage, status: number | undefined, bytes?: number): void {
    const { requestId, knownTraceId, path, route, address, startedAt } = requestInfo(req);
    const ms = Math.round((performance.now() - startedAt) * 10) / 10;
    const line = { requestId, traceId: knownTraceId, method: 'GET', path: scrubPath(path, route), route };
    log.info({ ...line, status, ms, bytes, address }, 'upgrade');
  }

  function isOurs({ method, headers, url = '', socket }: IncomingMessage): boolean {
    const path = url.split('?', 1)[0] ?? '';
    const isKnown = takesAll || handlers.has(path);
    if (!isKnown || method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return false;
    // Node would pass on a wrapper of the socket, which lacks methods.
    if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0) return false;
    return connections.openReplies(socket).length === 0; // an earlier reply still needs the socket
  }

  (server as ServerWithUpgrades).shouldUpgradeCallback = isOurs;
  server.on('upgrade', (req: IncomingMessage, duplex: Duplex, head: Buffer) => {
    const socket = duplex as Socket; // of a request without a body
    connections.setUpgraded(socket);
    socket.on('error', (error) => log.debug({ error: error.message }, 'An upgraded socket failed.'));
    // Node before 24.9 does not call `shouldUpgradeCallback`, and passes on every upgrade request.
    if (!isOurs(req)) {
      endSocket(socket, 400, headers);
      return;
    }
    const res = new ServerResponse(req);
    res.shouldKeepAlive = false;
    res.assignSocket(socket);
    res.once('finish', () => {
      writeLine(req, res.statusCode);
      socket.destroySoon();
    });
    enter(head)(req, res);
  });

  return sockets;
}

/** The sockets that speak WebSocket. */
function createSockets(): UpgradedSockets & { readonly add: (socket: Socket) => boolean } {
  /** How much was written to each before (bytes). */
  const sockets = new Map<Socket, number>();
  let closing = false;
  return {
    /** @returns false if the server is closing them, so that this one is closed too */
    add(socket) {
      if (closing) {
        socket.destroy();
        return false;
      }
      socket.setTimeout(0); // the timeout of HTTP is for requests without any progress
      socket.setKeepAlive(true, KEEP_ALIVE_DELAY);
      sockets.set(socket, socket.bytesWritten);
      socket.once('close', () => sockets.delete(socket));
      return true;
    },
    has: (socket) => sockets.has(socket),
    closeAll() {
      closing = true;
      for (const [socket, bytesBefore] of sockets) {
        // Frames are written whole, so this one cannot split another. Before the handshake there is nothing to close.
        if (socket.bytesWritten > bytesBefore) socket.write(GOING_AWAY);
        else socket.destroy();
        setTimeout(() => socket.destroySoon(), CLOSE_FRAME_WAIT).unref();
      }
    },
  };
}

/** Returns a function that reads the status of the response to the handshake, which the handler writes as text. */
function watchStatus(socket: Socket): () => number | undefined {
  let status: number | undefined;
  const write = socket._write;
  socket._write = (chunk, encoding, done) => {
    socket._write = write;
    status = Number(/^HTTP\/1\.\d (\d{3})/.exec(String(chunk))?.[1]) || undefined;
    write.call(socket, chunk, encoding, done);
  };
  return () => status;
}

/** `@types/node` only has it as an option. */
type ServerWithUpgrades = Server & { shouldUpgradeCallback?: (request: IncomingMessage) => boolean };
