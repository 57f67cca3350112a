import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The open sockets of a server and what each is doing. Node tells an idle socket from a busy one to nobody. */
export interface Connections {
  readonly sockets: ReadonlySet<Socket>;
  /** Replies that are not wholly handed to the system, or whose handler still works. */
  openReplies(socket: Socket): readonly ServerResponse[];
  /** Calls back when a socket's last reply is done. */
  onIdle(listener: (socket: Socket) => void): void;
}

const NONE: readonly ServerResponse[] = [];

/** Must be called before the server listens, and before other request listeners that may answer. */
export function trackConnections(server: Server): Connections {
  // Lists, and no sets: the table of a set that has grown points to the next one, so that once one is
  // old, the replies of every request on that connection look alive to the young generation's collector.
  const replies = new Map<Socket, ServerResponse[]>();
  const sockets = new Set<Socket>();
  const idleListeners: ((socket: Socket) => void)[] = [];

  function handleRequest(req: IncomingMessage, res: ServerResponse): void {
    const { socket } = req;
    const open = replies.get(socket);
    if (!open) return;
    open.push(res);
    res.once('close', () => {
      open.splice(open.indexOf(res), 1);
      if (open.length === 0) for (const listener of idleListeners) listener(socket);
    });
  }

  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    replies.set(socket, []);
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
