import type { Socket } from 'node:net';
import type { Step } from '../request/step.ts';

/** Requests of one connection that can wait before the socket is paused (count). */
const MAX_WAITING = 32;

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
    if (count === MAX_WAITING && by > 0) socket.pause();
    else if (count === MAX_WAITING - 1 && by < 0) socket.resume();
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
