import { Hour, KiB, MiB, Minute, Second } from '../../shared/units.ts';
import type { Count } from '../engine/monitoring/count.ts';
import { createDiskQueue, type DiskQueue, type QueuedRecord } from './disk-queue.ts';
import type { Dsn } from './dsn.ts';
import { createRateLimits, type RateLimits } from './rate-limits.ts';
import { type Answer, createUpstream } from './upstream.ts';

/** The size of the queue on disk (bytes). Beyond it, envelopes are dropped and counted. */
const MAX_OUTBOX_BYTES = 64 * MiB;
/** The largest envelope that is accepted (bytes): the tunnel's limit plus headers. */
const MAX_ENVELOPE_BYTES = 5 * MiB;
/** Envelopes that are sent at the same time (a count). While the upstream fails, it is only one. */
const CONCURRENCY = 4;
/**
 * The first and the longest wait after a failure (ms). The wait doubles each time, minus a random part of up to half.
 */
const FIRST_BACKOFF = 1 * Second;
const MAX_BACKOFF = 5 * Minute;
/** How often the upstream can answer an envelope with 500 before the envelope is dropped (a count). */
const MAX_ERRORS = 5;
/** How long `close()` continues to send (ms). Anything left stays on disk. */
const CLOSE_DEADLINE = 2 * Second;
/** How often a sentence is repeated (ms), and how many are remembered (a count). */
const WARNING_INTERVAL = 1 * Hour;
const MAX_WARNINGS = 20;

/** Sentry's data categories, which are labels of a counter. Any other is counted as `default`. */
const CATEGORIES = new Set([
  'error',
  'default',
  'security',
  'transaction',
  'attachment',
  'session',
  'replay',
  'profile',
  'profile_chunk',
  'monitor',
  'feedback',
  'span',
  'log_item',
  'log_byte',
  'trace_metric',
  'metric_bucket',
  'internal',
]);

/** Request headers that can be forwarded. Cookies and credentials never are. */
const FORWARDED = new Set(['x-sentry-forwarded-for', 'user-agent', 'origin', 'referer']);
const MAX_HEADER_LENGTH = 1 * KiB;

export interface OutboxOptions {
  /** A folder that only this process uses. */
  readonly folder: string;
  /** The destination of all envelopes. The DSN in an envelope is ignored. */
  readonly dsn: Dsn;
  readonly count: Count;
  /** Called with a sentence if the upstream or the disk fails, for each sentence at most once an hour. */
  readonly warn: (sentence: string) => void;
  /** Bytes. */
  readonly maxBytes?: number;
  /** Milliseconds: the first wait after a failure. */
  readonly firstBackoff?: number;
  /** Milliseconds. */
  readonly connectTimeout?: number;
  /** Milliseconds. */
  readonly totalTimeout?: number;
  /** Milliseconds. */
  readonly closeDeadline?: number;
}

export interface Outbox {
  /**
   * Appends an envelope with one `write`, so that it survives a crash of the process. Never throws, and also works
   * after `close()`: the next process sends it.
   *
   * @param category Sentry's: `error`, `transaction`, `replay`
   * @param headers about the sender; headers that are not in `FORWARDED` are removed
   * @returns false if the envelope was dropped, which is counted
   */
  add(envelope: Uint8Array, category: string, headers?: Readonly<Record<string, string>>): boolean;
  /** Returns the value of `X-Sentry-Rate-Limits` for responses to clients; undefined if nothing is limited. */
  limits(): string | undefined;
  /** The size of the queue on disk (bytes). */
  readonly bytes: number;
  /** Sends envelopes until the deadline. Anything left stays on disk. */
  close(): Promise<void>;
}

/**
 * Creates a bounded queue of envelopes on disk, which are sent in order. An envelope is dropped and counted
 * (`spillway_outbox_dropped_total{category,reason}`) if the upstream refuses it, has limited its category, or if the
 * queue is full. Everything else is retried until it arrives. If the process is killed while it sends an envelope, the
 * envelope is sent again with the same event id.
 */
export function createOutbox(options: OutboxOptions): Outbox {
  return new DiskOutbox(options);
}

interface Packet {
  readonly record: QueuedRecord;
  readonly category: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly envelope: Uint8Array;
  errors: number;
  sending: boolean;
}

class DiskOutbox implements Outbox {
  readonly #options: OutboxOptions;
  readonly #upstream;
  readonly #limits: RateLimits = createRateLimits();
  readonly #stop = new AbortController();
  /** Packets that were read but are not settled, in order. */
  readonly #packets: Packet[] = [];
  #queue: DiskQueue | undefined;
  #failures = 0;
  #pausedUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  #scheduled = false;
  #closed: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;
  /** The time of each sentence. */
  readonly #warnings = new Map<string, number>();

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#upstream = createUpstream({ ...options, connections: CONCURRENCY });
    this.#tryDisk((queue) => queue);
    this.#schedule();
  }

  add(envelope: Uint8Array, category: string, headers: Readonly<Record<string, string>> = {}): boolean {
    const known = CATEGORIES.has(category) ? category : 'default';
    if (this.#limits.remaining(known) > 0) return this.#drop(known, 'rate-limited');
    if (envelope.byteLength > MAX_ENVELOPE_BYTES) return this.#drop(known, 'too-large');
    const added = this.#tryDisk((queue) => queue.append(pack(envelope, known, headers)));
    if (added === undefined) return this.#drop(known, 'disk');
    if (!added) return this.#drop(known, 'full');
    this.#schedule();
    return true;
  }

  limits(): string | undefined {
    return this.#limits.header();
  }

  get bytes(): number {
    return this.#queue?.bytes ?? 0;
  }

  close(): Promise<void> {
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  async #finish(): Promise<void> {
    const { closeDeadline = CLOSE_DEADLINE } = this.#options;
    await new Promise<void>((resolve) => {
      const deadline = setTimeout(resolve, closeDeadline);
      this.#onIdle = () => {
        clearTimeout(deadline);
        resolve();
      };
      this.#pump();
    });
    clearTimeout(this.#timer);
    this.#stop.abort();
    this.#upstream.close();
  }

  /** Runs after the current work, so that a failing request does not wait for a socket. */
  #schedule(): void {
    if (this.#scheduled || this.#stop.signal.aborted) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#stop.signal.aborted) return;
    const wait = this.#pausedUntil - performance.now();
    if (wait > 0) {
      this.#pumpAfter(wait);
      this.#onIdle?.(); // close() does not wait for an unavailable upstream
      return;
    }
    const concurrency = this.#failures > 0 ? 1 : CONCURRENCY;
    while (this.#packets.filter(({ sending }) => sending).length < concurrency) {
      const packet = this.#packets.find(({ sending }) => !sending) ?? this.#read();
      if (!packet) break;
      this.#send(packet);
    }
    if (this.#packets.length === 0) this.#onIdle?.();
  }

  #pumpAfter(wait: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#pump(), wait);
    this.#timer.unref();
  }

  /** Returns the next packet that is not rate-limited. */
  #read(): Packet | undefined {
    for (;;) {
      const record = this.#tryDisk((queue) => queue.next());
      if (!record) return undefined;
      const packet = unpack(record);
      if (packet && this.#limits.remaining(packet.category) === 0) {
        this.#packets.push(packet);
        return packet;
      }
      this.#drop(packet?.category ?? 'default', packet ? 'rate-limited' : 'damaged');
      this.#tryDisk((queue) => queue.settle(record));
    }
  }

  #send(packet: Packet): void {
    packet.sending = true;
    void this.#upstream.send(packet.envelope, packet.headers, this.#stop.signal).then((answer) => {
      packet.sending = false;
      // The next process sends what was aborted.
      if (this.#stop.signal.aborted) return;
      this.#take(packet, answer);
      this.#pump();
    });
  }

  #take(packet: Packet, { status, limits }: Answer): void {
    this.#limits.take(limits);
    const forAll = this.#limits.remaining('');
    if (forAll > 0) this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + forAll);
    if (status >= 200 && status < 300) {
      this.#failures = 0;
      this.#options.count('spillway_outbox_sent_total', { category: packet.category });
      this.#settle(packet);
    } else if (status === 429) {
      if (this.#limits.remaining(packet.category) > 0) this.#give(packet, 'rate-limited');
      else if (forAll === 0) this.#backOff(status);
    } else if (status === 0 || status === 408 || status >= 500) {
      packet.errors += status === 500 ? 1 : 0;
      if (packet.errors >= MAX_ERRORS) this.#give(packet, 'refused');
      else this.#backOff(status);
    } else {
      this.#warn(toRefusal(status));
      this.#give(packet, 'refused');
    }
  }

  #backOff(status: number): void {
    const { firstBackoff = FIRST_BACKOFF } = this.#options;
    const wait = Math.min(firstBackoff * 2 ** Math.min(this.#failures, 20), MAX_BACKOFF);
    this.#failures += 1;
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + wait * (0.5 + Math.random() / 2));
    const why = status === 0 ? 'gave no answer' : `answered with status ${status}`;
    this.#warn(`The error-reporting service ${why}. Reports wait on the disk until it is back.`);
  }

  #settle(packet: Packet): void {
    this.#packets.splice(this.#packets.indexOf(packet), 1);
    this.#tryDisk((queue) => queue.settle(packet.record));
  }

  #give(packet: Packet, reason: string): void {
    this.#drop(packet.category, reason);
    this.#settle(packet);
  }

  #drop(category: string, reason: string): false {
    this.#options.count('spillway_outbox_dropped_total', { category, reason });
    if (reason === 'full')
      this.#warn('The queue of reports is full. New reports are dropped and counted until some were sent.');
    return false;
  }

  /** Returns undefined if the disk fails, because reporting must never break the app. */
  #tryDisk<Result>(act: (queue: DiskQueue) => Result): Result | undefined {
    const { folder, maxBytes = MAX_OUTBOX_BYTES } = this.#options;
    try {
      this.#queue ??= createDiskQueue(folder, maxBytes);
      return act(this.#queue);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#warn(`The queue of reports cannot be stored on disk (${why}). Check DATA_DIR and its free space.`);
      return undefined;
    }
  }

  #warn(sentence: string): void {
    const before = this.#warnings.get(sentence) ?? Number.NEGATIVE_INFINITY;
    if (performance.now() - before < WARNING_INTERVAL) return;
    if (this.#warnings.size >= MAX_WARNINGS) this.#warnings.clear();
    this.#warnings.set(sentence, performance.now());
    this.#options.warn(sentence);
  }
}

function toRefusal(status: number): string {
  if (status < 400) {
    return `The error-reporting service answered with a redirect (status ${status}), which is not followed. Set SENTRY_DSN to the final address.`;
  }
  return [401, 403, 404].includes(status)
    ? `The error-reporting service refused a report with status ${status}, and it was dropped. Check that SENTRY_DSN names a project and a key that exist.`
    : `The error-reporting service refused a report with status ${status}, and it was dropped.`;
}

/** Packs the length of the note, the note as JSON, and the envelope. */
function pack(envelope: Uint8Array, category: string, headers: Readonly<Record<string, string>>): Buffer {
  const forwarded = Object.entries(headers).filter(([name, value]) => {
    return FORWARDED.has(name.toLowerCase()) && value.length <= MAX_HEADER_LENGTH && /^[\x20-\x7e]*$/.test(value);
  });
  const note = Buffer.from(JSON.stringify({ category, headers: Object.fromEntries(forwarded) }));
  const packed = Buffer.allocUnsafe(2 + note.length + envelope.byteLength);
  packed.writeUInt16BE(note.length, 0);
  note.copy(packed, 2);
  packed.set(envelope, 2 + note.length);
  return packed;
}

/** Returns undefined for a format of an earlier version. */
function unpack(record: QueuedRecord): Packet | undefined {
  try {
    const length = record.body.readUInt16BE(0);
    const { category, headers } = JSON.parse(record.body.toString('utf8', 2, 2 + length)) as Pick<
      Packet,
      'category' | 'headers'
    >;
    return { record, category, headers, envelope: record.body.subarray(2 + length), errors: 0, sending: false };
  } catch {
    return undefined;
  }
}
