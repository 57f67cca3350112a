import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Second } from '../../shared/units.ts';
import { MAX_UNSENT_BYTES } from '../limits.ts';
import type { Count } from '../request/counters.ts';

/** A client that took nothing for this long is not reading (ms). */
const LOOK_INTERVAL = 2 * Second;

interface UnsentOptions {
  /** All open sockets. */
  readonly sockets: ReadonlySet<Socket>;
  readonly count?: Count | undefined;
  /** What may wait in memory for all clients together (bytes). */
  readonly most?: number | undefined;
}

/**
 * Limits what waits in memory for clients that do not read: forty of them, each with a large page, could take all of it.
 * Beyond the limit, the sockets that hold most are closed, if nothing has left them since the last look.
 */
export function limitUnsentBytes(server: Server, { sockets, count, most = MAX_UNSENT_BYTES }: UnsentOptions): void {
  const sentBefore = new WeakMap<Socket, number>();

  function look(): void {
    let unsent = 0;
    const stalled: Socket[] = [];
    for (const socket of sockets) {
      const { writableLength, bytesWritten } = socket;
      if (writableLength === 0) continue;
      unsent += writableLength;
      const sent = bytesWritten - writableLength;
      if (sentBefore.get(socket) === sent) stalled.push(socket);
      sentBefore.set(socket, sent);
    }
    stalled.sort((one, other) => other.writableLength - one.writableLength);
    for (const socket of stalled) {
      if (unsent <= most) return;
      unsent -= socket.writableLength;
      count?.('spillway_connections_closed_total', { limit: 'unsent' });
      socket.destroy();
    }
  }

  const timer = setInterval(look, LOOK_INTERVAL).unref();
  server.once('close', () => clearInterval(timer));
}
