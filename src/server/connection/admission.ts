import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { Millisecond, Second } from '../../shared/units.ts';
import { ADDRESS_SHARE, MAX_CONNECTIONS, RESERVED_FILES } from '../limits.ts';
import type { Count } from '../request/counters.ts';
import { sayOnce } from '../request/say-once.ts';

/** A connection is idle if it has been silent, or in the middle of a request's head, for this long (ms). */
const MOMENT = 1 * Second;
/** Above this share of the total, the server closes idle connections to make room for new ones. */
const NEARLY_FULL = 15 / 16;
/** Finding idle connections means looking at all of them, so several are closed together (a share of the limit). */
const BATCH = 1 / 64;
/** Pause after finding no idle connection (ms). */
const REST = 250 * Millisecond;

/** One open connection, and what it is doing. */
export class Connection {
  readonly socket: Socket;
  /** Undefined for a trusted proxy, which closes its idle connections itself. */
  readonly sender: string | undefined;
  // An array, not a Set: when a Set grows, its old table points to the new one. Once the old table is in the old
  // generation, the replies of every request on that connection look alive to the young generation's collector.
  readonly replies: ServerResponse[] = [];
  unfinished: IncomingMessage | undefined;
  isUpgraded = false;
  /** When it was opened or its last reply closed (ms), and the bytes that had arrived by then. */
  idleSince = performance.now();
  #bytesBefore = 0;
  /** When a part of the next request was first seen (ms). */
  #beganAt: number | undefined;

  constructor(socket: Socket, sender: string | undefined) {
    this.socket = socket;
    this.sender = sender;
  }

  begin(req: IncomingMessage, res: ServerResponse): void {
    this.replies.push(res);
    this.unfinished = req;
    this.#beganAt = undefined;
  }

  end(req: IncomingMessage, res: ServerResponse): void {
    this.replies.splice(this.replies.indexOf(res), 1);
    if (this.unfinished === req && req.complete) this.unfinished = undefined;
    this.idleSince = performance.now();
    this.#bytesBefore = this.socket.bytesRead;
  }

  isIdle(now: number): boolean {
    if (this.sender === undefined || this.isUpgraded || this.replies.length > 0) return false;
    if (this.socket.bytesRead === this.#bytesBefore) return now - this.idleSince > MOMENT;
    this.#beganAt ??= now;
    return now - this.#beganAt > MOMENT;
  }
}

interface OpenConnections {
  readonly sockets: ReadonlySet<Socket>;
  /** Those that are not being closed. */
  readonly connections: Map<Socket, Connection>;
}

interface AdmissionRecords {
  readonly log: Pick<Logger, 'warn'>;
  readonly count?: Count | undefined;
}

/** Limits the connections of one sender and of all, and closes idle ones to make room for new ones. */
export function createAdmission(
  { sockets, connections }: OpenConnections,
  limits: ConnectionLimits,
  { log, count }: AdmissionRecords,
) {
  const senders = new Map<string, Connection[]>();
  const sayFull = sayOnce(
    log,
    'One address has as many connections as MAX_CONNECTIONS_PER_ADDRESS allows: its idle ones are closed, and new ones are refused. If it is your proxy, set TRUST_PROXY to it. If many visitors share it, raise the limit.',
  );
  let looksAgain: NodeJS.Timeout | undefined;

  function admit(connection: Connection): void {
    const { socket, sender } = connection;
    if (sender !== undefined) {
      const own = senders.get(sender) ?? [];
      senders.set(sender, own);
      if (own.length >= limits.ofSender) {
        sayFull({ address: socket.remoteAddress });
        if (closeIdle(own, limits.ofSender, 'address') === 0) {
          count?.('spillway_connections_refused_total', { limit: 'address' });
          socket.destroy();
          return;
        }
      }
      own.push(connection);
    }
    makeRoom();
  }

  /** A full server accepts no connections, so no new connection triggers this: it retries on a timer. */
  function makeRoom(): void {
    if (looksAgain || sockets.size <= limits.total * NEARLY_FULL) return;
    if (closeIdle([...connections.values()], limits.total, 'total') > 0) return;
    looksAgain = setTimeout(() => {
      looksAgain = undefined;
      makeRoom();
    }, REST).unref();
  }

  /** Closes the connections that have been idle longest. @returns how many */
  function closeIdle(among: readonly Connection[], most: number, limit: string): number {
    const now = performance.now();
    const idle = among
      .filter((connection) => connection.isIdle(now))
      .sort((one, other) => one.idleSince - other.idleSince)
      .slice(0, Math.ceil(most * BATCH));
    for (const connection of idle) {
      forget(connection);
      connection.socket.destroySoon();
    }
    if (idle.length > 0) count?.('spillway_connections_closed_total', { limit }, idle.length);
    return idle.length;
  }

  /** A closing connection no longer counts for its sender, and is not chosen again. */
  function forget(connection: Connection): void {
    connections.delete(connection.socket);
    const { sender } = connection;
    const own = sender === undefined ? undefined : senders.get(sender);
    if (sender === undefined || !own) return;
    const place = own.indexOf(connection);
    if (place >= 0) own.splice(place, 1);
    if (own.length === 0) senders.delete(sender);
  }

  return { admit, forget };
}

export type ConnectionLimits = ReturnType<typeof toConnectionLimits>;

/**
 * Returns the limits of simultaneous connections (counts), in total and of one sender: see `toSender()`.
 *
 * @param ofSender a setting; by default a share of the total
 */
export function toConnectionLimits(total: number, ofSender = Math.ceil(total * ADDRESS_SHARE)) {
  return { total, ofSender };
}

/**
 * Returns how many connections this process can hold. Each takes a file descriptor, and the store, the journal and
 * connections to other servers need some too.
 *
 * @param openFiles how many files the system lets the process open; undefined if unlimited
 */
export function toMaxConnections(openFiles: number | undefined): number {
  if (openFiles === undefined) return MAX_CONNECTIONS;
  return Math.min(MAX_CONNECTIONS, openFiles - Math.min(RESERVED_FILES, Math.floor(openFiles / 2)));
}

/** Reads `ulimit -n` of this process; undefined if unlimited, and on systems other than Linux. */
export function readOpenFileLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
