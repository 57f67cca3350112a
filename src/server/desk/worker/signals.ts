import type { JournalPosition } from '../ingest/segment-files.ts';

/** The desk worker has just begun, can use the store, or cannot. */
export type StoreState = (typeof STORE_STATES)[number];

const STORE_STATES = ['opening', 'reachable', 'away'] as const;

/**
 * The few numbers that both threads see at once. All else passes as messages, which a blocked thread
 * does not get.
 */
export interface Signals {
  readonly buffer: SharedArrayBuffer;
  /** The main thread has come round. */
  pulse(): void;
  readonly pulses: number;
  /** The main thread has something new in its journal. @returns whether the desk worker has to be told */
  setDirty(): boolean;
  clearDirty(): void;
  /** The main thread stands still on purpose: it waits for the desk worker. */
  waiting: boolean;
  /** How far the journal of this process was taken in. */
  position: JournalPosition;
  /** What waits of dead processes' journals (bytes). */
  inherited: number;
  /** The main thread has journaled this many failures more. */
  addJournaled(count: number): void;
  /** The desk worker has stored this many of them, or given them up. */
  addSettled(count: number): void;
  /** Failures that this process has journaled since it started (a count). */
  readonly journaled: number;
  /** Everything is settled that was journaled when `journaled` was this. It corrects what a crash left uncounted. */
  settleTo(journaled: number): void;
  /** Failures that this process has journaled and that are not in the store yet (a count). */
  readonly arriving: number;
  /** Whether the store can be used. */
  storeState: StoreState;
  /** Blocks the thread until the position is reached. @returns false where the time was up first */
  waitFor(position: JournalPosition, timeoutMs: number): boolean;
}

const PULSE = 0;
const DIRTY = 1;
const WAITING = 2;
const MOVED = 3;
/** In 64-bit words, behind the four of 32. */
const POSITION = 2;
const INHERITED = 3;
/** Behind those. */
const STORE = 8;
/** In 64-bit words, behind that one and a word that fills up. */
const JOURNALED = 5;
const SETTLED = 6;
const BYTES = 56;
const SEGMENT_SHIFT = 32n;

/** @param buffer what the other thread made; without one, a new one is made */
export function createSignals(buffer: SharedArrayBuffer = new SharedArrayBuffer(BYTES)): Signals {
  const words = new Int32Array(buffer);
  const longs = new BigInt64Array(buffer);

  return {
    buffer,
    pulse: () => void Atomics.add(words, PULSE, 1),
    get pulses() {
      return Atomics.load(words, PULSE);
    },
    setDirty: () => Atomics.exchange(words, DIRTY, 1) === 0,
    clearDirty: () => void Atomics.store(words, DIRTY, 0),
    get waiting() {
      return Atomics.load(words, WAITING) === 1;
    },
    set waiting(value) {
      Atomics.store(words, WAITING, value ? 1 : 0);
    },
    get position() {
      return unpack(Atomics.load(longs, POSITION));
    },
    set position(position) {
      Atomics.store(longs, POSITION, pack(position));
      Atomics.add(words, MOVED, 1);
      Atomics.notify(words, MOVED);
    },
    get inherited() {
      return Number(Atomics.load(longs, INHERITED));
    },
    set inherited(bytes) {
      Atomics.store(longs, INHERITED, BigInt(bytes));
    },
    addJournaled: (count) => void Atomics.add(longs, JOURNALED, BigInt(count)),
    addSettled: (count) => void Atomics.add(longs, SETTLED, BigInt(count)),
    get journaled() {
      return Number(Atomics.load(longs, JOURNALED));
    },
    settleTo(journaled) {
      // Nothing was journaled in between, or it only raises the number: the rest counts itself.
      const isAll = Atomics.load(longs, JOURNALED) === BigInt(journaled);
      if (isAll || Atomics.load(longs, SETTLED) < BigInt(journaled)) Atomics.store(longs, SETTLED, BigInt(journaled));
    },
    get arriving() {
      return Math.max(0, Number(Atomics.load(longs, JOURNALED) - Atomics.load(longs, SETTLED)));
    },
    get storeState() {
      return STORE_STATES[Atomics.load(words, STORE)] ?? 'opening';
    },
    set storeState(state) {
      Atomics.store(words, STORE, STORE_STATES.indexOf(state));
    },
    waitFor(position, timeoutMs) {
      const end = performance.now() + timeoutMs;
      for (;;) {
        const moved = Atomics.load(words, MOVED);
        if (Atomics.load(longs, POSITION) >= pack(position)) return true;
        const left = end - performance.now();
        if (left <= 0) return false;
        Atomics.wait(words, MOVED, moved, left);
      }
    },
  };
}

/** One word, so that nobody reads half of a new position. */
function pack({ segment, offset }: JournalPosition): bigint {
  return (BigInt(segment) << SEGMENT_SHIFT) | BigInt(offset);
}

function unpack(word: bigint): JournalPosition {
  return { segment: Number(word >> SEGMENT_SHIFT), offset: Number(BigInt.asUintN(32, word)) };
}
