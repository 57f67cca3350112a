/** Lets so many at a time do something, and bounds how long others wait for it. */
export interface Slots {
  /** @throws what `toError` makes, if no slot was free in time */
  use<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * @param count slots
 * @param patience the longest wait for one (ms)
 */
export function createSlots(count: number, patience: number, toError: () => Error): Slots {
  let free = count;
  const waiting = new Set<() => void>();

  function acquire(): Promise<void> {
    if (free > 0) {
      free -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const enter = () => {
        clearTimeout(timer);
        waiting.delete(enter);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(enter);
        reject(toError());
      }, patience);
      waiting.add(enter);
    });
  }

  /** Hands the slot to the one that has waited longest. */
  function release(): void {
    const [next] = waiting;
    if (next) next();
    else free += 1;
  }

  return {
    async use(work) {
      await acquire();
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}
