import type { IncomingMessage, ServerResponse } from 'node:http';
import { KiB } from '../../shared/units.ts';
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

export interface BodyReader {
  /**
   * Reads a whole body into memory. Its bytes count until `use` has settled.
   *
   * @throws HttpError 413 if the body is too large, 408 if it arrives too slowly, 429 if there is no room for it
   * @throws VisitorGone if the sender leaves before the end
   */
  read<Value>(request: BodyRequest, use: (body: Buffer) => Value | Promise<Value>): Promise<Value>;
}

export interface BodyLimits {
  /** Memory for the bodies of one sender (bytes). */
  readonly senderBytes: number;
  /** Unfinished bodies of one sender (count). */
  readonly senderBodies: number;
  /** Memory for all bodies (bytes). */
  readonly totalBytes: number;
  /** An unfinished body must grow by `progress` (bytes) in each `window` (ms). */
  readonly progress: number;
  readonly window: number;
}

const LIMITS: BodyLimits = {
  senderBytes: limits.MAX_SENDER_BODY_BYTES,
  senderBodies: limits.MAX_SENDER_BODIES,
  totalBytes: limits.MAX_BODY_BYTES,
  progress: limits.MIN_BODY_PROGRESS,
  window: limits.BODY_PROGRESS_WINDOW,
};

/** Cost of an unfinished body before its first byte (bytes). */
const OVERHEAD = KiB;

class Body {
  readonly sender: string;
  readonly since = performance.now();
  bytes = 0;
  /** Stops reading the body; undefined once all of it has arrived. */
  cut: ((error: HttpError) => void) | undefined;

  constructor(sender: string) {
    this.sender = sender;
  }

  /** Memory times time: low for a phone's slow report, high for a large body that stalls. */
  get cost(): number {
    return (this.bytes + OVERHEAD) * (performance.now() - this.since);
  }
}

/**
 * Reads bodies within one memory budget. A caller can start bodies and never finish them, so a full budget does
 * not refuse new bodies: it drops the unfinished body with the highest cost. A sender that exceeds its share
 * loses one of its own bodies.
 */
export function createBodyReader(overrides: Partial<BodyLimits> = {}): BodyReader {
  const { senderBytes, senderBodies, totalBytes, progress, window } = { ...LIMITS, ...overrides };
  const senders = new Map<string, Body[]>();
  let total = 0;
  let decoding: Promise<unknown> = Promise.resolve();

  function enter(body: Body): void {
    const own = senders.get(body.sender) ?? [];
    own.push(body);
    senders.set(body.sender, own);
  }

  function leave(body: Body): void {
    const own = senders.get(body.sender);
    const place = own?.indexOf(body) ?? -1;
    if (!own || place < 0) return;
    own.splice(place, 1);
    if (own.length === 0) senders.delete(body.sender);
    total -= body.bytes;
  }

  /** @throws HttpError 429 if nothing can be dropped */
  function grow(body: Body, bytes: number): void {
    body.bytes += bytes;
    total += bytes;
    const own = senders.get(body.sender) ?? [];
    while (own.reduce((sum, other) => sum + other.bytes, 0) > senderBytes) dropOne(own);
    while (total > totalBytes) dropOne([...senders.values()].flat());
  }

  function dropOne(bodies: readonly Body[]): void {
    const unfinished = bodies.filter(({ cut }) => cut);
    const costliest = unfinished.reduce<Body | undefined>(
      (most, body) => (most && most.cost >= body.cost ? most : body),
      undefined,
    );
    if (!costliest?.cut) throw tooMuch();
    costliest.cut(tooMuch());
  }

  function receive(body: Body, { req, res, limit }: BodyRequest): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let bytesBefore = 0;
      const watch = setInterval(() => {
        if (body.bytes - bytesBefore < progress) body.cut?.(new HttpError(408));
        bytesBefore = body.bytes;
      }, window);
      function finish(settle: () => void): void {
        clearInterval(watch);
        body.cut = undefined;
        req.off('data', take).off('end', end).off('close', gone).off('error', gone);
        settle();
      }
      function take(chunk: Buffer): void {
        if (body.bytes + chunk.length > limit) {
          finish(() => reject(tooLarge(limit)));
          return;
        }
        chunks.push(chunk);
        grow(body, chunk.length);
      }
      function end(): void {
        finish(() => resolve(Buffer.concat(chunks, body.bytes)));
      }
      function gone(): void {
        finish(() => reject(new VisitorGone()));
      }
      body.cut = (error) => {
        leave(body);
        if (!res.headersSent) res.setHeader('Connection', 'close'); // the rest of the body is not read
        finish(() => reject(error));
      };
      req.on('data', take).on('end', end).on('close', gone).on('error', gone);
      if (req.readableEnded) end();
      else if (req.destroyed) gone();
      const own = senders.get(body.sender) ?? [];
      if (own.filter(({ cut }) => cut).length > senderBodies) dropOne(own);
    });
  }

  /** Decodes one body at a time: a few bytes can decode to megabytes, and hundreds of such bodies can arrive. */
  function inTurn(decode: () => Promise<Buffer>): Promise<Buffer> {
    const decoded = decoding.then(decode);
    decoding = decoded.catch(() => undefined);
    return decoded;
  }

  return {
    async read(request, use) {
      const { req, limit, decode } = request;
      if (Number(req.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
      const body = new Body(toSender(requestInfo(req).address));
      enter(body);
      try {
        const wire = await receive(body, request);
        if (!decode) return await use(wire);
        const decoded = await inTurn(() => decode(wire));
        grow(body, decoded.length);
        return await use(decoded);
      } finally {
        leave(body);
      }
    },
  };
}

/** One for the process, because all bodies share its memory: forms, the API and reports. */
export const bodies = createBodyReader();

function tooLarge(limit: number): HttpError {
  const size = limit < KiB ? `${limit} bytes` : `${Math.floor(limit / KiB)} KiB`;
  return new HttpError(413, `The request is larger than ${size}. Send less, or a smaller file.`);
}

function tooMuch(): HttpError {
  return new HttpError(429, 'Too much is being sent at the moment. Try again in a moment.', { 'Retry-After': '1' });
}
