import type { LogPosition } from '../../segmented-log.ts';

/** The desk worker has just begun, can use the store, or cannot. */
export type StoreState = (typeof STORE_STATES)[number];

const STORE_STATES = ['opening', 'reachable', 'away'] as const;

/**
 * The few numbers that both threads see at once. All else passes as messages, which a blocked thread
 * does not get.
 */
export type Signals = ReturnType<typeof createSignals>;

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
export function createSignals(buffer: SharedArrayBuffer = new SharedArrayBuffer(BYTES)) {
  const words = new Int32Array(buffer);
  const longs = new BigInt64Array(buffer);

  return {
    buffer,
    /** The main thread has come round. */
    pulse: () => void Atomics.add(words, PULSE, 1),
    get pulses() {
      return Atomics.load(words, PULSE);
    },
    /** The main thread has something new in its journal. @returns whether the desk worker has to be told */
    setDirty: () => Atomics.exchange(words, DIRTY, 1) === 0,
    clearDirty: () => void Atomics.store(words, DIRTY, 0),
    /** The main thread is blocked on purpose: it waits for the desk worker. */
    get waiting(): boolean {
      return Atomics.load(words, WAITING) === 1;
    },
    set waiting(value) {
      Atomics.store(words, WAITING, value ? 1 : 0);
    },
    /** How far the journal of this process is in the store. */
    get position(): LogPosition {
      return unpack(Atomics.load(longs, POSITION));
    },
    set position(position) {
      Atomics.store(longs, POSITION, pack(position));
      Atomics.add(words, MOVED, 1);
      Atomics.notify(words, MOVED);
    },
    /** The part of dead processes' journals that is not in the store yet (bytes). */
    get inherited(): number {
      return Number(Atomics.load(longs, INHERITED));
    },
    set inherited(bytes) {
      Atomics.store(longs, INHERITED, BigInt(bytes));
    },
    /** The main thread has journaled this many failures more. */
    addJournaled: (count: number) => void Atomics.add(longs, JOURNALED, BigInt(count)),
    /** The desk worker has stored this many of them, or given them up. */
    addSettled: (count: number) => void Atomics.add(longs, SETTLED, BigInt(count)),
    /** Failures that this process has journaled since it started (a count). */
    get journaled() {
      return Number(Atomics.load(longs, JOURNALED));
    },
    /** Everything is settled that was journaled when `journaled` was this. It corrects what a crash left uncounted. */
    settleTo(journaled: number) {
      // Nothing was journaled in between, or it only raises the number: the rest counts itself.
      const isAll = Atomics.load(longs, JOURNALED) === BigInt(journaled);
      if (isAll || Atomics.load(longs, SETTLED) < BigInt(journaled)) Atomics.store(longs, SETTLED, BigInt(journaled));
    },
    /** Failures that this process has journaled and that are not in the store yet (a count). */
    get arriving() {
      return Math.max(0, Number(Atomics.load(longs, JOURNALED) - Atomics.load(longs, SETTLED)));
    },
    /** Whether the store can be used. */
    get storeState(): StoreState {
      return STORE_STATES[Atomics.load(words, STORE)] ?? 'opening';
    },
    set storeState(state) {
      Atomics.store(words, STORE, STORE_STATES.indexOf(state));
    },
    /** Blocks the thread until the position is reached. @returns false where the time was up first */
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

/** One word, so that nobody reads half of a new position. */
function pack({ segment, offset }: LogPosition): bigint {
  return (BigInt(segment) << SEGMENT_SHIFT) | BigInt(offset);
}

function unpack(word: bigint): LogPosition {
  return { segment: Number(word >> SEGMENT_SHIFT), offset: Number(BigInt.asUintN(32, word)) };
}
