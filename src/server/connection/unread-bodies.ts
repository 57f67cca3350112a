import type { IncomingMessage, Server } from 'node:http';
import { Socket } from 'node:net';
import { Millisecond } from '../../shared/units.ts';
import * as limits from '../limits.ts';
import { type ProxyTrust, toClientAddress, toSender } from '../request/client-address.ts';
import type { Connections } from './connections.ts';

const LIMITS = {
  bytes: limits.MAX_UNREAD_BYTES,
  time: limits.UNREAD_TIME,
  silence: limits.UNREAD_SILENCE,
  senderBodies: limits.MAX_SENDER_UNREAD_BODIES,
};

/** How often a body is looked at (ms). */
const STEP = 50 * Millisecond;

/**
 * Reads and drops what is left of a body after its response, up to a size and for a moment. If a connection closed with
 * unread bytes, the system would reset it: the sender could lose the response, and a proxy answers 502 instead.
 *
 * A connection whose body was read to its end can have further requests. Otherwise it closes, because the rest of the
 * body would be taken for the next request. A response that closes its connection says so first (FIN).
 */
export function drainUnreadBodies(
  server: Server,
  connections: Connections,
  trust: ProxyTrust,
  overrides: Partial<typeof LIMITS> = {},
): void {
  const { bytes, time, silence, senderBodies } = { ...LIMITS, ...overrides };
  const senders = new Map<string, number>();
  const draining = new WeakSet<Socket>();
  const broken = new WeakSet<Socket>();

  function drain(socket: Socket, request: IncomingMessage | undefined): void {
    const sender = toSender(request?.socket ? toClientAddress(request, trust) : (socket.remoteAddress ?? ''));
    const others = senders.get(sender) ?? 0;
    if (others >= senderBodies) {
      close(socket);
      return;
    }
    senders.set(sender, others + 1);
    draining.add(socket);
    if (request && !isBeingRead(request)) request.resume();
    const most = socket.bytesRead + bytes;
    let read = socket.bytesRead;
    let waited = 0;
    let silent = 0;
    // Steps are counted, because after a blocked turn of the event loop no time has passed for what waits to be read.
    const timer = setInterval(() => {
      waited += STEP;
      silent = socket.bytesRead > read ? 0 : silent + STEP;
      read = socket.bytesRead;
      if (read > most || waited > time || silent > silence) finish();
    }, STEP);
    const body = request ?? socket;
    body.once('close', finish);

    function finish(): void {
      clearInterval(timer);
      body.off('close', finish);
      draining.delete(socket);
      const left = (senders.get(sender) ?? 1) - 1;
      if (left > 0) senders.set(sender, left);
      else senders.delete(sender);
      if (socket.writableEnded || !request?.complete) close(socket);
    }
  }

  /** Replaces the method by which Node closes a connection after its last response. */
  function closeDrained(this: Socket): void {
    if (draining.has(this)) {
      this.end();
      return;
    }
    const request = connections.unfinishedRequest(this);
    if (!request && !broken.has(this)) {
      close(this);
      return;
    }
    this.end();
    drain(this, request);
  }

  server.on('connection', (socket: Socket) => {
    socket.destroySoon = closeDrained;
  });
  // What follows broken bytes cannot be read as requests. A sender that was too slow sends nothing.
  server.prependListener('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') broken.add(socket as Socket);
  });
  connections.onIdle((socket) => {
    const request = connections.unfinishedRequest(socket);
    if (request && !socket.destroyed && !draining.has(socket) && !isBeingRead(request)) drain(socket, request);
  });
}

/** A handler can read on after its response. */
function isBeingRead(request: IncomingMessage): boolean {
  return request.listenerCount('data') > 0 || request.listenerCount('readable') > 0;
}

function close(socket: Socket): void {
  Socket.prototype.destroySoon.call(socket);
}
