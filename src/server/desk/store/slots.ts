interface SlotsOptions {
  /** How many callers work at the same time. */
  readonly count: number;
  /** How long a caller waits for a slot (ms), and the error after that. Without it, callers wait forever. */
  readonly limit?: { readonly patience: number; readonly toError: () => Error };
}

/** Limits how many callers work at the same time. The others wait in order. */
export function createSlots({ count, limit }: SlotsOptions) {
  let free = count;
  const waiting = new Set<() => void>();

  function acquire(): Promise<void> {
    if (free > 0) {
      free -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const enter = () => {
        clearTimeout(timer);
        waiting.delete(enter);
        resolve();
      };
      waiting.add(enter);
      if (!limit) return;
      timer = setTimeout(() => {
        waiting.delete(enter);
        reject(limit.toError());
      }, limit.patience);
    });
  }

  /** Hands the slot to the caller that has waited longest. */
  function release(): void {
    const [next] = waiting;
    if (next) next();
    else free += 1;
  }

  return {
    /** @throws the error from `toError` if no slot is free in time */
    async use<T>(work: () => Promise<T>): Promise<T> {
      await acquire();
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}
