import { availableParallelism } from 'node:os';
import { hashPassword, verifyPassword } from 'better-auth/crypto';
import { publicError } from '#engine';

/** Hashes passwords as better-auth does, but only a few at the same time. */
export function createHashing() {
  // A hash takes a core for a tenth of a second, and one of the four threads that also compress pages and read files.
  const inTurn = createTurns({ atOnce: availableParallelism() > 2 ? 2 : 1, maxWaiting: 100 });
  return {
    hash: (password: string) => inTurn(() => hashPassword(password)),
    verify: (pair: { hash: string; password: string }) => inTurn(() => verifyPassword(pair)),
  };
}

/** Returns a function that runs work when it is its turn. If too much work waits already, it ends the request with 503. */
export function createTurns({ atOnce, maxWaiting }: { atOnce: number; maxWaiting: number }) {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (waiting.length >= maxWaiting) publicError(503, 'Too many people are signing in. Try again in a minute.');
    if (running < atOnce) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
