import type { ScrubPath } from '../errors/scrub/secret-path.ts';
import { isApiPath } from '../request/paths.ts';
import { type RequestInfo, requestInfo } from '../request/request-info.ts';
import type { Step } from '../request/step.ts';

/** A request in flight, as it is recorded in case the process dies. */
export interface InFlightRequest {
  readonly requestId: string;
  readonly method: string;
  /** The path, or the route's pattern. */
  readonly route: string;
  /** How long it has been in flight (ms). */
  readonly ms: number;
}

/** More requests at a time are not recorded (count). */
const SLOTS = 128;
const SLOT_BYTES = 256;
/** In a slot: its state (32 bits), the length of its text (32 bits), when its request began (64 bits), and the text. */
const TEXT = 16;
const TEXT_BYTES = SLOT_BYTES - TEXT;
const WORDS = SLOT_BYTES / Int32Array.BYTES_PER_ELEMENT;
const LONGS = SLOT_BYTES / Float64Array.BYTES_PER_ELEMENT;

/**
 * The requests that the app is answering, in memory that another thread can read: a request that blocks this thread, or
 * takes all memory, is followed by no message. To record one takes a third of a microsecond.
 */
export class InFlight {
  /** All requests, also those that are not for the app (count). */
  size = 0;
  readonly shared = new SharedArrayBuffer(SLOTS * SLOT_BYTES);
  readonly #words = new Int32Array(this.shared);
  readonly #longs = new Float64Array(this.shared);
  readonly #bytes = Buffer.from(this.shared);
  readonly #free = Array.from({ length: SLOTS }, (_, slot) => slot);
  #begun = 0;

  /** Counts a request. */
  add(): void {
    this.size += 1;
  }

  /** Records a request that reaches the app's code. */
  record(info: RequestInfo, path: string): void {
    const slot = this.#free.pop();
    if (slot === undefined) return;
    info.slot = slot;
    // A canonical path is ASCII.
    const text = `${info.requestId} ${info.method} ${path}`;
    this.#words[slot * WORDS + 1] = this.#bytes.write(text, slot * SLOT_BYTES + TEXT, TEXT_BYTES, 'latin1');
    this.#longs[slot * LONGS + 1] = performance.timeOrigin + info.startedAt;
    this.#begun = (this.#begun + 1) | 0 || 1;
    Atomics.store(this.#words, slot * WORDS, this.#begun);
  }

  /** Forgets a request, once its response has closed. */
  delete({ slot }: RequestInfo): void {
    this.size -= 1;
    if (slot === undefined) return;
    Atomics.store(this.#words, slot * WORDS, 0);
    this.#free.push(slot);
  }
}

/** Lists the requests in flight, the newest first. Another thread can call it at any time. */
export function readInFlight(shared: SharedArrayBuffer): InFlightRequest[] {
  const words = new Int32Array(shared);
  const longs = new Float64Array(shared);
  const bytes = Buffer.from(shared);
  const now = performance.timeOrigin + performance.now();
  const requests: InFlightRequest[] = [];
  for (let slot = 0; slot < SLOTS; slot += 1) {
    const state = Atomics.load(words, slot * WORDS);
    if (state === 0) continue;
    const start = slot * SLOT_BYTES + TEXT;
    const text = bytes.toString('latin1', start, start + (words[slot * WORDS + 1] ?? 0));
    const ms = Math.max(0, Math.round(now - (longs[slot * LONGS + 1] ?? now)));
    // It can have ended, and another can have its slot.
    if (Atomics.load(words, slot * WORDS) !== state) continue;
    const [requestId = '', method = '', route = ''] = text.split(' ');
    requests.push({ requestId, method, route, ms });
  }
  return requests.sort((left, right) => left.ms - right.ms);
}

/**
 * Records each request from here on. It is forgotten by the step that logs it. Express handlers of the API find their
 * route later, and only the route shows which part of a path is a secret: of their paths, the start is recorded.
 */
export function recordInFlight(inFlight: InFlight, scrubPath: ScrubPath): Step {
  return function recordInFlight(req, _res, next) {
    const info = requestInfo(req);
    const path = scrubPath(info.path, info.route);
    inFlight.record(info, info.route === undefined && isApiPath(path) ? path.replace(BELOW_RESOURCE, '/*') : path);
    next();
  };
}

/** Of `/api/orders/17`, the part `/17`. */
const BELOW_RESOURCE = /(?<=^\/api\/[^/]*)\/.+/i;
