import { Hour, KiB, MiB, Minute, Second } from '../../shared/units.ts';
import type { Count } from '../engine/monitoring/count.ts';
import { createDiskQueue, type DiskQueue, type QueuedRecord } from './disk-queue.ts';
import type { Dsn } from './dsn.ts';
import { createRateLimits, type RateLimits } from './rate-limits.ts';
import { type Answer, createUpstream } from './upstream.ts';

/** What waits on the disk for the upstream (bytes); more is dropped and counted. */
const MAX_OUTBOX_BYTES = 64 * MiB;
/** The largest envelope that is taken (bytes): what the tunnel lets through, and what is around it. */
const MAX_ENVELOPE_BYTES = 5 * MiB;
/** Envelopes on their way at once (a count); one alone while the upstream is in trouble. */
const CONCURRENCY = 4;
/** The first wait after a failure, and the longest (ms). It doubles from one to the other, and chance takes up to half of it. */
const FIRST_BACKOFF = 1 * Second;
const MAX_BACKOFF = 5 * Minute;
/** How often an envelope may be answered with an error of the upstream's own before it is blamed for it (a count). */
const MAX_ERRORS = 5;
/** How long `close()` goes on sending (ms). What is left is on the disk. */
const CLOSE_DEADLINE = 2 * Second;
/** How often one sentence is said (ms), and how many are remembered (a count). */
const WARNING_INTERVAL = 1 * Hour;
const MAX_WARNINGS = 20;

/** Sentry's data categories, and what stands for any other: they are labels of a counter. */
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

/** What of a request may be told to the upstream. Cookies and credentials never are. */
const FORWARDED = new Set(['x-sentry-forwarded-for', 'user-agent', 'origin', 'referer']);
const MAX_HEADER_LENGTH = 1 * KiB;

export interface OutboxOptions {
  /** A folder of this process alone. */
  readonly folder: string;
  /** Where everything goes, whatever stands in an envelope. */
  readonly dsn: Dsn;
  readonly count: Count;
  /** Told in a sentence, each at most once an hour, that the upstream or the disk is in trouble. */
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
   * Appends with one `write`, so that the envelope outlives the process. Never throws, also after
   * `close()`, for the next process to send.
   *
   * @param category Sentry's: `error`, `transaction`, `replay`
   * @param headers what the upstream may know of who sent it; others than the listed ones are left out
   * @returns false where it was dropped, which is counted
   */
  add(envelope: Uint8Array, category: string, headers?: Readonly<Record<string, string>>): boolean;
  /** The value of `X-Sentry-Rate-Limits` to answer clients with; undefined where nothing is limited. */
  limits(): string | undefined;
  /** What waits on the disk (bytes). */
  readonly bytes: number;
  /** Sends what it can within the deadline. What is left waits on the disk. */
  close(): Promise<void>;
}

/**
 * A bounded queue of envelopes on the disk, sent in their order. What the upstream refuses, has
 * limited by category, or what has no room is dropped and counted
 * (`spillway_outbox_dropped_total{category,reason}`); everything else is tried until it arrives. One
 * that was on its way when the process was killed is sent again: its event id tells.
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
  /** Read, in order, and not yet settled. */
  readonly #packets: Packet[] = [];
  #queue: DiskQueue | undefined;
  #failures = 0;
  #pausedUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  #scheduled = false;
  #closed: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;
  /** When each sentence was said. */
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

  /** After whatever runs now: a failing request does not wait for a socket. */
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
      this.#onIdle?.(); // who closes does not wait for an upstream that is away
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

  /** The next packet that is still wanted. */
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
      // What was cut off is sent by the next process.
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
      this.#warn('The queue of reports is full. More are dropped and counted until some have left.');
    return false;
  }

  /** Undefined where the disk does not do it: reporting must not stop what it reports about. */
  #tryDisk<Result>(act: (queue: DiskQueue) => Result): Result | undefined {
    const { folder, maxBytes = MAX_OUTBOX_BYTES } = this.#options;
    try {
      this.#queue ??= createDiskQueue(folder, maxBytes);
      return act(this.#queue);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#warn(`The queue of reports cannot be kept on the disk (${why}). Check DATA_DIR and the room on its disk.`);
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
    return `The error-reporting service answered with a redirect (status ${status}), which is not followed. Put the address that it leads to into SENTRY_DSN.`;
  }
  return [401, 403, 404].includes(status)
    ? `The error-reporting service refused a report with status ${status}, and it was dropped. Check that SENTRY_DSN names a project and a key that exist.`
    : `The error-reporting service refused a report with status ${status}, and it was dropped. The desk has it.`;
}

/** Length of the note, the note in JSON, the envelope. */
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

/** Undefined for what an earlier version wrote in another way. */
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
