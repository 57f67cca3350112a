import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { type ProxyTrust, toSender } from '../request/client-address.ts';
import type { Count } from '../request/counters.ts';
import { sayOnce } from '../request/say-once.ts';
import { Connection, type ConnectionLimits, createAdmission } from './admission.ts';

/** The open sockets of a server, and what each is doing. Node does not say which sockets are idle. */
export type Connections = ReturnType<typeof trackConnections>;

interface ConnectionsOptions {
  readonly limits: ConnectionLimits;
  /** A trusted proxy carries the connections of many visitors, so only the total limits it. */
  readonly trust: ProxyTrust;
  readonly log: Pick<Logger, 'warn'>;
  readonly count?: Count | undefined;
}

const NONE: readonly ServerResponse[] = [];

/** Call it before the server listens, and before adding other request listeners that can answer. */
export function trackConnections(server: Server, { limits, trust, log, count }: ConnectionsOptions) {
  const sockets = new Set<Socket>();
  const connections = new Map<Socket, Connection>();
  const admission = createAdmission({ sockets, connections }, limits, { log, count });
  const idleListeners: ((socket: Socket) => void)[] = [];
  const sayFailed = sayOnce(
    log,
    'The system could not accept a connection. If this continues, look at its memory and its limit of open files.',
  );

  function handleRequest(req: IncomingMessage, res: ServerResponse): void {
    const { socket } = req;
    const connection = connections.get(socket);
    if (!connection) return;
    connection.begin(req, res);
    res.on('close', () => {
      connection.end(req, res);
      if (connection.replies.length === 0) for (const listener of idleListeners) listener(socket);
    });
  }

  server.maxConnections = limits.total;
  // Before that, listenOn() reports errors.
  server.once('listening', () => {
    server.on('error', (error: NodeJS.ErrnoException) => {
      sayFailed({ code: error.code }); // such as ENFILE or ENOMEM
      count?.('spillway_connections_refused_total', { limit: 'system' });
    });
  });
  server.on('drop', () => count?.('spillway_connections_refused_total', { limit: 'total' }));
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const connection = new Connection(socket, trust(address, 0) ? undefined : toSender(address));
    sockets.add(socket);
    connections.set(socket, connection);
    socket.once('close', () => {
      sockets.delete(socket);
      admission.forget(connection);
    });
    admission.admit(connection);
  });
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.prependListener(event, handleRequest);

  return {
    sockets: sockets as ReadonlySet<Socket>,
    /** Responses that are not fully handed to the system, or whose handler is still running. */
    openReplies: (socket: Socket) => connections.get(socket)?.replies ?? NONE,
    /** The request whose body is still arriving, whether it has been answered or not. */
    unfinishedRequest(socket: Socket): IncomingMessage | undefined {
      const request = connections.get(socket)?.unfinished;
      return request?.complete ? undefined : request;
    },
    /** Marks a socket that no longer speaks HTTP, so that it is never idle. */
    setUpgraded(socket: Socket): void {
      const connection = connections.get(socket);
      if (connection) connection.isUpgraded = true;
    },
    /** Calls back when a socket's last reply is done. */
    onIdle: (listener: (socket: Socket) => void) => void idleListeners.push(listener),
  };
}
