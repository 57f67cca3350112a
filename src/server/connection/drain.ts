import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { Millisecond } from '../../shared/units.ts';
import { cutResponses, isStream, STOPPING } from '../request/step.ts';
import type { Connections } from './connections.ts';

/** The sockets that no longer speak HTTP. */
export interface UpgradedSockets {
  has(socket: Socket): boolean;
  /** Sends 1001 to each of them, and closes those that do not answer. */
  closeAll(): void;
}

interface DrainOptions {
  readonly server: Server;
  readonly connections: Connections;
  /** These sockets are notified, and have the same deadline as replies. */
  readonly upgraded?: UpgradedSockets;
  /** Called at once: readiness fails from here on. */
  readonly onStart?: () => void;
  /** How long to keep accepting after readiness fails (ms), so that a proxy notices first. */
  readonly lag: number;
  /** How long replies can take after that (ms). Replies still open then are cut. */
  readonly deadline: number;
}

/** Connections cut at the deadline (counts). */
interface DrainEnd {
  /** All of them, no matter which side was slow. */
  readonly cut: number;
  /** Those whose reply this server had not finished: each visitor received a partial response. */
  readonly owed: number;
}

/** Resolves when every connection is closed. Later calls return the same promise. */
export type Drain = () => Promise<DrainEnd>;

/** In a turn of the event loop this short, almost no connection can arrive unseen (ms). */
const QUIET_TURN = 0.1 * Millisecond;

/** How long to wait for such a turn (ms). After that, any turn without a new connection is enough. */
const QUIET_TURN_PATIENCE = 500 * Millisecond;

/** How often streams that began during the drain are ended (ms). */
const STREAM_SWEEP = 100 * Millisecond;

/** How long a new connection can take to send its first bytes (ms). */
const FIRST_REQUEST_GRACE = 500 * Millisecond;

/**
 * Ends a server without losing a reply. `server.close()` cannot do that: it cuts replies that are ended but not
 * flushed, and stops the timers that bound half-sent requests. It also keeps sending `keep-alive`, so it waits for
 * idle connections.
 */
export function createDrain({ server, connections, upgraded, onStart, lag, deadline }: DrainOptions): Drain {
  let running: Promise<DrainEnd> | undefined;

  function sayClose(_req: IncomingMessage, res: ServerResponse): void {
    if (!res.headersSent) res.setHeader('Connection', 'close');
  }

  /**
   * Accepts the connections that wait in the system's queue. Closing would reset them and lose what they had sent. A
   * proxy then retries a page on another replica, but never a form.
   *
   * @param within how long to accept them if they never cease (ms)
   */
  async function emptyQueue(within: number): Promise<void> {
    let taken = 0;
    server.on('connection', () => {
      taken++;
    });
    const start = performance.now();
    for (let began = start; began - start < within; ) {
      const before = taken;
      await nextTurn();
      const now = performance.now();
      if (taken === before && (now - began < QUIET_TURN || began - start > QUIET_TURN_PATIENCE)) return;
      began = now;
    }
  }

  /** Ends what never ends by itself. Browsers connect again, to another replica or to the next process. */
  function endStreams(): void {
    const replies = [...connections.sockets].flatMap((socket) => connections.openReplies(socket));
    for (const reply of replies) {
      if (!reply.writableEnded && isStream(reply)) reply.end();
      else reply.emit(STOPPING);
    }
  }

  async function run(): Promise<DrainEnd> {
    onStart?.();
    for (const event of ['request', 'checkContinue', 'checkExpectation']) server.prependListener(event, sayClose);
    for (const socket of connections.sockets) {
      for (const reply of connections.openReplies(socket)) sayClose(reply.req, reply);
    }
    await sleep(lag, undefined, { ref: false });
    const end = performance.now() + deadline;
    await emptyQueue(deadline / 2);
    connections.onIdle((socket) => socket.destroySoon());
    // Only the close of `net`: that of `http` would close idle connections and clear the timers (see above).
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    const fresh = [...connections.sockets].filter((socket) => socket.bytesRead === 0);
    for (const socket of connections.sockets) {
      // Idle, or with half a request: it is owed only what is in its buffer.
      if (upgraded?.has(socket) || fresh.includes(socket)) continue;
      if (connections.openReplies(socket).length === 0) socket.destroySoon();
    }
    // One turn later, because data that arrived while the process was suspended is read after the timers.
    const releaseFresh = (): void => {
      for (const socket of fresh) if (connections.openReplies(socket).length === 0) socket.destroySoon();
    };
    upgraded?.closeAll();
    endStreams();
    const sweep = setInterval(endStreams, STREAM_SWEEP);
    // A client that connected a moment ago does not know about the drain: its request is on the way.
    setTimeout(() => setImmediate(releaseFresh), FIRST_REQUEST_GRACE);
    await Promise.race([closed, sleep(Math.max(0, end - performance.now()), undefined, { ref: false })]);
    clearInterval(sweep);
    // A socket can be destroyed before its close event arrives.
    const cut = [...connections.sockets].filter((socket) => !socket.destroyed);
    const owed = cut.map((socket) => connections.openReplies(socket).filter(isOwed)).filter(({ length }) => length > 0);
    for (const reply of owed.flat()) cutResponses.add(reply);
    for (const socket of connections.sockets) socket.destroy();
    // Stops the timers of `http`.
    server.closeAllConnections();
    await sleep(1); // in which cut responses close and are logged
    return { cut: cut.length, owed: owed.length };
  }

  return function drain() {
    running ??= run();
    return running;
  };
}

/** Joins the drains of several listeners of one process. */
export function joinDrains(drains: readonly Drain[]): Drain {
  return async function drainAll() {
    const ends = await Promise.all(drains.map((drain) => drain()));
    const sum = (pick: (end: DrainEnd) => number) => ends.reduce((all, end) => all + pick(end), 0);
    return { cut: sum(({ cut }) => cut), owed: sum(({ owed }) => owed) };
  };
}

/** True if the request was complete and the peer is not what holds up the reply. */
function isOwed(reply: ServerResponse): boolean {
  return reply.req.complete && !reply.writableEnded && !reply.writableNeedDrain;
}
