import type { Socket } from 'node:net';
import type { Step } from '../request/step.ts';

/** Requests of one connection that wait for their turn before no more of it is read (a count). */
const MAX_WAITING = 32;

/**
 * Requests that came on one connection, one behind the other without waiting for answers, are begun
 * one at a time: their answers leave in this order anyway, and who asks for a thousand pages in one
 * packet, and reads none, would have all of them rendered and kept. What stands behind a request whose
 * answer ended the connection is none any more (RFC 9112, section 9.6): Node still hands it on.
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
    // Node gives a reply its socket when the one before it has been handed over.
    if (res.socket !== null) return next();
    const { socket } = req;
    change(socket, 1);
    res.once('socket', () => {
      change(socket, -1);
      next();
    });
  };
}
