import type { LogPosition } from './segments.ts';

/** The desk worker is opening the store, can use it, or cannot. */
type StoreState = (typeof STORE_STATES)[number];

const STORE_STATES = ['opening', 'reachable', 'away'] as const;

/**
 * The few numbers in memory that both threads share. Everything else is sent as messages, which a blocked thread does not
 * receive.
 */
export type Signals = ReturnType<typeof createSignals>;

/** Indexes in 32-bit words. */
const PULSE = 0;
const DIRTY = 1;
const WAITING = 2;
const MOVED = 3;
const STORE = 4;
/** Indexes in 64-bit words, after six 32-bit ones. */
const POSITION = 3;
const INHERITED = 4;
const HEAP = 5;
const BYTES = 48;
const SEGMENT_SHIFT = 32n;

/** @param buffer the buffer of the other thread. A new one by default */
export function createSignals(buffer: SharedArrayBuffer = new SharedArrayBuffer(BYTES)) {
  const words = new Int32Array(buffer);
  const longs = new BigInt64Array(buffer);

  return {
    buffer,
    /** Called by the main thread to show that it is not blocked. @param heap what it uses (bytes) */
    pulse(heap: number): void {
      Atomics.store(longs, HEAP, BigInt(heap));
      Atomics.add(words, PULSE, 1);
    },
    get heap(): number {
      return Number(Atomics.load(longs, HEAP));
    },
    get pulses() {
      return Atomics.load(words, PULSE);
    },
    /** Records that the journal has new entries. @returns whether the desk worker must be woken */
    setDirty: () => Atomics.exchange(words, DIRTY, 1) === 0,
    clearDirty: () => void Atomics.store(words, DIRTY, 0),
    /** Whether the main thread is blocked on purpose, because it waits for the desk worker. */
    get waiting(): boolean {
      return Atomics.load(words, WAITING) === 1;
    },
    set waiting(value) {
      Atomics.store(words, WAITING, value ? 1 : 0);
    },
    /** The position up to which this process's journal is stored. */
    get position(): LogPosition {
      return unpack(Atomics.load(longs, POSITION));
    },
    set position(position) {
      Atomics.store(longs, POSITION, pack(position));
      Atomics.add(words, MOVED, 1);
      Atomics.notify(words, MOVED);
    },
    /** The size of the journals of dead processes that are not stored yet (bytes). */
    get inherited(): number {
      return Number(Atomics.load(longs, INHERITED));
    },
    set inherited(bytes) {
      Atomics.store(longs, INHERITED, BigInt(bytes));
    },
    /** Whether the store can be used. */
    get storeState(): StoreState {
      return STORE_STATES[Atomics.load(words, STORE)] ?? 'opening';
    },
    set storeState(state) {
      Atomics.store(words, STORE, STORE_STATES.indexOf(state));
    },
    /** Blocks the thread until the position is reached. @returns false after a timeout */
    waitFor(position: LogPosition, timeoutMs: number): boolean {
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

/** Packs a position into one word, so that no thread reads half of a new one. */
function pack({ segment, offset }: LogPosition): bigint {
  return (BigInt(segment) << SEGMENT_SHIFT) | BigInt(offset);
}

function unpack(word: bigint): LogPosition {
  return { segment: Number(word >> SEGMENT_SHIFT), offset: Number(BigInt.asUintN(32, word)) };
}
