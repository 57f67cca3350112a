import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EngineText } from '../../shared/rendering/language.ts';
import { KiB } from '../../shared/units.ts';
import { toSize } from '../../shared/words.ts';
import * as limits from '../limits.ts';
import { toSender } from './client-address.ts';
import { HttpError, VisitorGone } from './http-error.ts';
import { requestInfo } from './request-info.ts';

export interface BodyRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Maximum size of the body as it is sent (bytes). */
  readonly limit: number;
  /** Undoes a content coding. The decoded bytes count too. */
  readonly decode?: ((wire: Buffer) => Promise<Buffer>) | undefined;
}

/** Where a body is while it is read and used. */
type Place = 'memory' | 'disk';

/** What a body occupies. */
export interface HeldBody {
  /** Counts bytes, or stops counting them if the number is negative. */
  readonly hold: (bytes: number, place?: Place) => void;
  /** Stops counting the body. */
  readonly release: () => void;
}

const LIMITS = {
  senderBytes: limits.MAX_SENDER_BODY_BYTES,
  senderDiskBytes: limits.MAX_SENDER_DISK_BYTES,
  senderBodies: limits.MAX_SENDER_BODIES,
  totalBytes: limits.MAX_BODY_BYTES,
  totalDiskBytes: limits.MAX_DISK_BYTES,
  progress: limits.MIN_BODY_PROGRESS,
  window: limits.BODY_PROGRESS_WINDOW,
};

/** Cost of an unfinished body before its first byte (bytes). */
const OVERHEAD = KiB;

class Body {
  readonly sender: string;
  readonly since = performance.now();
  readonly bytes = { memory: 0, disk: 0 };
  /** Stops reading the body; undefined once all of it has arrived. */
  cut: ((error: HttpError) => void) | undefined;

  constructor(sender: string) {
    this.sender = sender;
  }

  /** Space times time: low for a phone's slow report, high for a large body that stalls. */
  toCost(place: Place): number {
    return (this.bytes[place] + OVERHEAD) * (performance.now() - this.since);
  }
}

/**
 * Reads bodies within one budget of memory, and one of disk space. A caller can start bodies and never finish them, so a
 * full budget does not refuse new bodies: it drops the unfinished body with the highest cost. A sender that exceeds its
 * share loses one of its own bodies.
 */
export function createBodyReader(overrides: Partial<typeof LIMITS> = {}) {
  const given = { ...LIMITS, ...overrides };
  const { senderBodies, progress, window } = given;
  const most = {
    memory: { sender: given.senderBytes, total: given.totalBytes },
    disk: { sender: given.senderDiskBytes, total: given.totalDiskBytes },
  };
  const senders = new Map<string, Body[]>();
  const total = { memory: 0, disk: 0 };
  let decoding: Promise<unknown> = Promise.resolve();

  function enter(body: Body): void {
    const own = senders.get(body.sender) ?? [];
    own.push(body);
    senders.set(body.sender, own);
  }

  function leave(body: Body): void {
    const own = senders.get(body.sender);
    const position = own?.indexOf(body) ?? -1;
    if (!own || position < 0) return;
    own.splice(position, 1);
    if (own.length === 0) senders.delete(body.sender);
    total.memory -= body.bytes.memory;
    total.disk -= body.bytes.disk;
  }

  /** @throws HttpError 429 if nothing can be dropped */
  function grow(body: Body, bytes: number, place: Place): void {
    const own = senders.get(body.sender) ?? [];
    if (!own.includes(body)) return; // dropped
    body.bytes[place] += bytes;
    total[place] += bytes;
    while (own.reduce((sum, other) => sum + other.bytes[place], 0) > most[place].sender) dropOne(own, place);
    while (total[place] > most[place].total) dropOne([...senders.values()].flat(), place);
  }

  function dropOne(bodies: readonly Body[], place: Place): void {
    const unfinished = bodies.filter(({ cut }) => cut);
    const costliest = unfinished.reduce<Body | undefined>(
      (first, body) => (first && first.toCost(place) >= body.toCost(place) ? first : body),
      undefined,
    );
    if (!costliest?.cut) throw tooMuch();
    costliest.cut(tooMuch());
  }

  function arrive(
    body: Body,
    { req, res, limit }: BodyRequest,
    take: (piece: Buffer) => void | Promise<void>,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      let received = 0;
      let receivedBefore = 0;
      let isReading = false;
      let hasEnded = false;
      const watch = setInterval(() => {
        if (received - receivedBefore < progress && !isReading) body.cut?.(new HttpError(408));
        receivedBefore = received;
      }, window);
      function finish(settle: () => void): void {
        clearInterval(watch);
        body.cut = undefined;
        req.off('readable', onReadable).off('end', end).off('close', gone).off('error', gone);
        settle();
      }
      function fail(error: unknown): void {
        finish(() => reject(error));
      }
      // As `data`, each chunk of one byte would be a piece that takes 200 bytes, and a packet can have thousands of them.
      // This joins what has arrived in a turn.
      async function readOn(): Promise<void> {
        if (isReading) return;
        isReading = true;
        for (let piece = readAll(req); piece && body.cut; piece = readAll(req)) {
          received += piece.length;
          if (received > limit) throw new BodyTooLarge(limit);
          await take(piece);
          await nextTurn();
        }
        isReading = false;
        if (hasEnded && body.cut) finish(resolve);
      }
      function onReadable(): void {
        readOn().catch(fail);
      }
      function end(): void {
        hasEnded = true; // while the last piece can still be taken
        if (!isReading) finish(resolve);
      }
      function gone(): void {
        if (!hasEnded) fail(new VisitorGone());
      }
      body.cut = (error) => {
        leave(body);
        if (!res.headersSent) res.setHeader('Connection', 'close'); // the rest of the body is not read
        fail(error);
      };
      req.on('readable', onReadable).on('end', end).on('close', gone).on('error', gone);
      if (req.readableEnded) end();
      else if (req.destroyed) gone();
      const own = senders.get(body.sender) ?? [];
      if (own.filter(({ cut }) => cut).length > senderBodies) dropOne(own, 'memory');
    });
  }

  /** Decodes one body at a time: a few bytes can decode to megabytes, and hundreds of such bodies can arrive. */
  function inTurn(decode: () => Promise<Buffer>): Promise<Buffer> {
    const decoded = decoding.then(decode);
    decoding = decoded.catch(() => undefined);
    return decoded;
  }

  /**
   * Reads a body in pieces. The next one is read when `take` has settled. What `take` holds counts until `release()`, or
   * until this rejects with the errors of `read()`, or with that of `take`.
   */
  async function receive(
    request: Omit<BodyRequest, 'decode'>,
    take: (piece: Buffer, body: HeldBody) => void | Promise<void>,
  ): Promise<HeldBody> {
    const { req, limit } = request;
    if (Number(req.headers['content-length'] ?? 0) > limit) throw new BodyTooLarge(limit);
    const body = new Body(toSender(requestInfo(req).address));
    const held: HeldBody = {
      hold: (bytes, place = 'memory') => grow(body, bytes, place),
      release: () => leave(body),
    };
    enter(body);
    try {
      await arrive(body, request, (piece) => take(piece, held));
      return held;
    } catch (error) {
      leave(body);
      throw error;
    }
  }

  return {
    receive,
    /**
     * Reads a whole body into memory. Its bytes count until `use` has settled.
     *
     * @throws HttpError 413 if the body is too large, 408 if it arrives too slowly, 429 if there is no room for it
     * @throws VisitorGone if the sender leaves before the end
     */
    async read<Value>(request: BodyRequest, use: (body: Buffer) => Value | Promise<Value>): Promise<Value> {
      const pieces: Buffer[] = [];
      const { hold, release } = await receive(request, (piece, body) => {
        pieces.push(piece);
        body.hold(piece.length);
      });
      try {
        const wire = Buffer.concat(pieces);
        const { decode } = request;
        if (!decode) return await use(wire);
        const decoded = await inTurn(() => decode(wire));
        hold(decoded.length);
        return await use(decoded);
      } finally {
        release();
      }
    },
  };
}

/** Reads what has arrived. A size would raise the limit of the stream's buffer. Without one, Node 26 returns one chunk. */
function readAll(req: IncomingMessage): Buffer | undefined {
  const chunks: Buffer[] = [];
  let left = req.readableLength;
  do {
    const chunk = req.read() as Buffer | null;
    if (!chunk) break;
    chunks.push(chunk);
    left -= chunk.length;
  } while (left > 0);
  return chunks.length > 1 ? Buffer.concat(chunks) : chunks[0];
}

/** One for the process, because all bodies share its memory: forms, the API and reports. */
export const bodies = createBodyReader();

/** Thrown for a body that is larger than its limit. */
export class BodyTooLarge extends HttpError {
  readonly limit: number;

  constructor(limit: number) {
    super(413, `The request is larger than ${toSize(limit)}. Send less, or a smaller file.`);
    this.limit = limit;
  }
}

function tooMuch(): HttpError {
  return new HttpError(429, 'Too much is being sent at the moment. Try again in a moment.' satisfies EngineText, {
    'Retry-After': '1',
  });
}
