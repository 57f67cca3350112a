/** Lets one at a time do something, in the order of asking. */
export interface Turns {
  take<T>(work: () => Promise<T>): Promise<T>;
}

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return {
    take(work) {
      const turn = last.then(work, work);
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}
