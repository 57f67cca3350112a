import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The open sockets of a server and what each is doing. Node tells an idle socket from a busy one to nobody. */
export interface Connections {
  readonly sockets: ReadonlySet<Socket>;
  /** Replies that are not wholly handed to the system, or whose handler still works. */
  openReplies(socket: Socket): ReadonlySet<ServerResponse>;
  /** Calls back when a socket's last reply is done. */
  onIdle(listener: (socket: Socket) => void): void;
}

const NONE: ReadonlySet<ServerResponse> = new Set();

/** Must be called before the server listens, and before other request listeners that may answer. */
export function trackConnections(server: Server): Connections {
  const replies = new Map<Socket, Set<ServerResponse>>();
  const sockets = new Set<Socket>();
  const idleListeners: ((socket: Socket) => void)[] = [];

  function handleRequest(req: IncomingMessage, res: ServerResponse): void {
    const { socket } = req;
    const open = replies.get(socket);
    if (!open) return;
    open.add(res);
    res.once('close', () => {
      open.delete(res);
      if (open.size === 0) for (const listener of idleListeners) listener(socket);
    });
  }

  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    replies.set(socket, new Set());
    socket.once('close', () => {
      sockets.delete(socket);
      replies.delete(socket);
    });
  });
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.prependListener(event, handleRequest);

  return {
    sockets,
    openReplies: (socket) => replies.get(socket) ?? NONE,
    onIdle: (listener) => void idleListeners.push(listener),
  };
}
