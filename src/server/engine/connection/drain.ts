import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { Millisecond } from '../../../shared/units.ts';
import type { Connections } from './connections.ts';
import type { UpgradedSockets } from './upgrades.ts';

export interface DrainOptions {
  readonly server: Server;
  readonly connections: Connections;
  /** They are told, and have the deadline of replies. */
  readonly upgraded?: UpgradedSockets;
  /** Told when no connection is taken any more: what would never end by itself is to be ended. */
  readonly onStop?: () => void;
  /** How long it goes on accepting after readiness has failed (ms): a proxy must notice first. */
  readonly lag: number;
  /** How long replies may take after that (ms). What is open then is cut. */
  readonly deadline: number;
}

/** What was cut at the deadline (counts). */
export interface DrainEnd {
  /** Connections, whoever was slow. */
  readonly cut: number;
  /** Of those, the ones whose reply this server had not finished: each is a visitor who got a part. */
  readonly owed: number;
}

export interface Drain {
  /** Readiness reads this. */
  readonly draining: boolean;
  /** Resolves when every connection is closed. Asked again, it gives the same promise. */
  start(): Promise<DrainEnd>;
}

/** A turn of the event loop in which next to nothing can have come unseen (ms). */
const QUIET_TURN = 0.1 * Millisecond;

/** How long such a turn is waited for (ms). */
const QUIET_TURN_PATIENCE = 500 * Millisecond;

/** How long a connection that has not said anything yet may take to (ms). */
const FIRST_REQUEST_GRACE = 500 * Millisecond;

/**
 * Ends a server without losing a reply. `server.close()` does not do it: it cuts replies that are
 * ended but not flushed, stops the timers that bound half-sent requests, and goes on saying
 * `keep-alive`, so that it waits for idle connections.
 */
export function createDrain({ server, connections, upgraded, onStop, lag, deadline }: DrainOptions): Drain {
  let running: Promise<DrainEnd> | undefined;
  let draining = false;
  let stopped = false;

  function sayClose(_req: IncomingMessage, res: ServerResponse): void {
    if (!res.headersSent) res.setHeader('Connection', 'close');
  }
  connections.onIdle((socket) => {
    if (stopped) socket.destroySoon();
  });

  /**
   * The system takes connections for us, and closing would reset those that stand in its queue with
   * what they had sent: proxies ask another replica for a page then, but never again for a form.
   */
  async function emptyQueue(): Promise<void> {
    let taken = 0;
    server.on('connection', () => {
      taken++;
    });
    const end = performance.now() + QUIET_TURN_PATIENCE;
    for (let began = performance.now(); began < end; ) {
      const before = taken;
      await nextTurn();
      const now = performance.now();
      if (taken === before && now - began < QUIET_TURN) return;
      began = now;
    }
  }

  async function run(): Promise<DrainEnd> {
    draining = true;
    for (const event of ['request', 'checkContinue', 'checkExpectation']) server.prependListener(event, sayClose);
    for (const socket of connections.sockets) {
      for (const reply of connections.openReplies(socket)) sayClose(reply.req, reply);
    }
    await sleep(lag, undefined, { ref: false });
    await emptyQueue();
    stopped = true;
    // The close of net alone: that of http would sweep, and clear the timers. See above.
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    const fresh = [...connections.sockets].filter((socket) => socket.bytesRead === 0);
    for (const socket of connections.sockets) {
      // Idle, or with half a request: nothing is owed to it but what is in its buffer.
      if (upgraded?.has(socket) || fresh.includes(socket)) continue;
      if (connections.openReplies(socket).length === 0) socket.destroySoon();
    }
    // After a turn: what came while the process stood still is read behind the timers.
    const releaseFresh = (): void => {
      for (const socket of fresh) if (connections.openReplies(socket).length === 0) socket.destroySoon();
    };
    upgraded?.closeAll();
    onStop?.();
    // Its request is on the way: whoever opened the connection a moment ago knows nothing of the end.
    setTimeout(() => setImmediate(releaseFresh), FIRST_REQUEST_GRACE);
    await Promise.race([closed, sleep(deadline, undefined, { ref: false })]);
    // A socket whose end was not heard of yet has ended all the same.
    const cut = [...connections.sockets].filter((socket) => !socket.destroyed);
    const owed = cut.filter((socket) => connections.openReplies(socket).some(isOwed)).length;
    for (const socket of connections.sockets) socket.destroy();
    // Stops the timers of http.
    server.closeAllConnections();
    return { cut: cut.length, owed };
  }

  return {
    get draining() {
      return draining;
    },
    start() {
      running ??= run();
      return running;
    },
  };
}

/** Several listeners of one process, which end together. */
export function joinDrains(drains: readonly Drain[]): Drain {
  return {
    get draining() {
      return drains.some(({ draining }) => draining);
    },
    async start() {
      const ends = await Promise.all(drains.map((drain) => drain.start()));
      const sum = (pick: (end: DrainEnd) => number) => ends.reduce((all, end) => all + pick(end), 0);
      return { cut: sum(({ cut }) => cut), owed: sum(({ owed }) => owed) };
    },
  };
}

/** The request was whole, and it is not the peer that does not take the reply. */
function isOwed(reply: ServerResponse): boolean {
  return reply.req.complete && !reply.writableEnded && !reply.writableNeedDrain;
}
