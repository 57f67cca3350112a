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

/** A body while it arrives, and while it is used. */
class Body {
  readonly sender: string;
  readonly since = performance.now();
  readonly bytes = { memory: 0, disk: 0 };
  readonly #request: Omit<BodyRequest, 'decode'>;
  readonly #arrived = Promise.withResolvers<void>();
  #take: (piece: Buffer) => void | Promise<void> = () => {};
  #watch: NodeJS.Timeout | undefined;
  #received = 0;
  #isReading = false;
  #hasEnded = false;
  #isOver = false;

  constructor(request: Omit<BodyRequest, 'decode'>) {
    this.sender = toSender(requestInfo(request.req).address);
    this.#request = request;
  }

  /** Whether it still arrives. */
  get isUnfinished(): boolean {
    return !this.#isOver;
  }

  /** Space times time: low for a phone's slow report, high for a large body that stalls. */
  toCost(place: Place): number {
    return (this.bytes[place] + OVERHEAD) * (performance.now() - this.since);
  }

  /** Gives it to `take` piece by piece. It is cut if fewer than `progress` bytes arrive within `window` ms. */
  read(take: (piece: Buffer) => void | Promise<void>, progress: number, window: number): Promise<void> {
    const { req } = this.#request;
    this.#take = take;
    let receivedBefore = 0;
    this.#watch = setInterval(() => {
      if (this.#received - receivedBefore < progress && !this.#isReading) this.cut(new HttpError(408));
      receivedBefore = this.#received;
    }, window);
    req.on('readable', this.#onReadable).on('end', this.#onEnd).on('close', this.#onGone).on('error', this.#onGone);
    if (req.readableEnded) this.#onEnd();
    else if (req.destroyed) this.#onGone();
    return this.#arrived.promise;
  }

  /** Stops reading it. */
  cut(error: HttpError): void {
    const { res } = this.#request;
    if (!res.headersSent) res.setHeader('Connection', 'close'); // the rest of the body is not read
    this.#fail(error);
  }

  // As `data`, each chunk of one byte would be a piece that takes 200 bytes, and a packet can have thousands of them.
  // This joins what has arrived in a turn.
  async #readOn(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    const { req, limit } = this.#request;
    for (let piece = readAll(req); piece && !this.#isOver; piece = readAll(req)) {
      this.#received += piece.length;
      if (this.#received > limit) throw new BodyTooLarge(limit);
      await this.#take(piece);
      await nextTurn();
    }
    this.#isReading = false;
    if (this.#hasEnded && !this.#isOver) this.#finish();
  }

  readonly #onReadable = (): void => {
    this.#readOn().catch((error) => this.#fail(error));
  };

  readonly #onEnd = (): void => {
    this.#hasEnded = true; // while the last piece can still be taken
    if (!this.#isReading) this.#finish();
  };

  readonly #onGone = (): void => {
    if (!this.#hasEnded) this.#fail(new VisitorGone());
  };

  #finish(): void {
    this.#stop();
    this.#arrived.resolve();
  }

  #fail(error: unknown): void {
    this.#stop();
    this.#arrived.reject(error);
  }

  #stop(): void {
    const { req } = this.#request;
    clearInterval(this.#watch);
    this.#isOver = true;
    req.off('readable', this.#onReadable).off('end', this.#onEnd).off('close', this.#onGone).off('error', this.#onGone);
  }
}

/**
 * What all bodies take together: one budget of memory, and one of disk space. A caller can start bodies and never finish
 * them, so a full budget does not refuse new bodies: it drops the unfinished body with the highest cost. A sender that
 * exceeds its share loses one of its own bodies.
 */
function createBudget(given: typeof LIMITS) {
  const most = {
    memory: { sender: given.senderBytes, total: given.totalBytes },
    disk: { sender: given.senderDiskBytes, total: given.totalDiskBytes },
  };
  const senders = new Map<string, Body[]>();
  const total = { memory: 0, disk: 0 };

  function leave(body: Body): void {
    const own = senders.get(body.sender);
    const position = own?.indexOf(body) ?? -1;
    if (!own || position < 0) return;
    own.splice(position, 1);
    if (own.length === 0) senders.delete(body.sender);
    total.memory -= body.bytes.memory;
    total.disk -= body.bytes.disk;
  }

  function dropOne(bodies: readonly Body[], place: Place): void {
    const unfinished = bodies.filter(({ isUnfinished }) => isUnfinished);
    const costliest = unfinished.reduce<Body | undefined>(
      (first, body) => (first && first.toCost(place) >= body.toCost(place) ? first : body),
      undefined,
    );
    if (!costliest) throw tooMuch();
    leave(costliest);
    costliest.cut(tooMuch());
  }

  return {
    leave,
    enter(body: Body): void {
      const own = senders.get(body.sender) ?? [];
      own.push(body);
      senders.set(body.sender, own);
      if (own.filter(({ isUnfinished }) => isUnfinished).length > given.senderBodies) dropOne(own, 'memory');
    },
    /** @throws HttpError 429 if nothing can be dropped */
    grow(body: Body, bytes: number, place: Place): void {
      const own = senders.get(body.sender) ?? [];
      if (!own.includes(body)) return; // dropped
      body.bytes[place] += bytes;
      total[place] += bytes;
      while (own.reduce((sum, other) => sum + other.bytes[place], 0) > most[place].sender) dropOne(own, place);
      while (total[place] > most[place].total) dropOne([...senders.values()].flat(), place);
    },
  };
}

/** Reads bodies within the budget. */
export function createBodyReader(overrides: Partial<typeof LIMITS> = {}) {
  const given = { ...LIMITS, ...overrides };
  const budget = createBudget(given);
  let decoding: Promise<unknown> = Promise.resolve();

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
    const body = new Body(request);
    const held: HeldBody = {
      hold: (bytes, place = 'memory') => budget.grow(body, bytes, place),
      release: () => budget.leave(body),
    };
    const arrived = body.read((piece) => take(piece, held), given.progress, given.window);
    try {
      budget.enter(body);
      await arrived;
      return held;
    } catch (error) {
      budget.leave(body);
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
