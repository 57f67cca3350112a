import { AsyncLocalStorage } from 'node:async_hooks';
import { availableParallelism } from 'node:os';
import { hashPassword, verifyPassword } from 'better-auth/crypto';
import { publicError } from '#engine';

const network = new AsyncLocalStorage<string>();

/**
 * Runs a call of better-auth whose hashes wait in the line of the sender's network: an IPv4 address, or a /48, because
 * one line at home can have 256 senders in IPv6.
 */
export function hashFor<Result>(sender: string, call: () => Promise<Result>): Promise<Result> {
  return network.run(sender.split(':').slice(0, 3).join(':'), call);
}

/** Hashes passwords as better-auth does, but only a few at the same time. */
export function createHashing() {
  // A hash takes a core for a tenth of a second, and one of the four threads that also compress pages and read files.
  const enqueue = createFairQueue({ atOnce: availableParallelism() > 2 ? 2 : 1, maxWaiting: 100 });
  const run = <Result>(work: () => Promise<Result>) => enqueue(network.getStore() ?? '', work);
  return {
    hash: (password: string) => run(() => hashPassword(password)),
    verify: (pair: { hash: string; password: string }) => run(() => verifyPassword(pair)),
  };
}

/**
 * Returns a function that runs work when it is its turn. Each network waits in its own line, and the lines take turns,
 * so one network cannot keep the others waiting. If too much work waits, the last of the longest line ends with 503.
 */
export function createFairQueue({ atOnce, maxWaiting }: { atOnce: number; maxWaiting: number }) {
  const lines = new Map<string, ((hasSlot: boolean) => void)[]>();
  let running = 0;

  function waitForSlot(network: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    lines.set(network, [...(lines.get(network) ?? []), resolve]);
    if ([...lines.values()].flat().length > maxWaiting) {
      const [longest = network] = [...lines].reduce((one, other) => (one[1].length > other[1].length ? one : other));
      take(longest, -1)?.(false);
    }
    return promise;
  }

  /** Takes the first (0) or the last (-1) of a line. Then all other lines have their turn before it. */
  function take(network: string, index: 0 | -1) {
    const line = lines.get(network) ?? [];
    const [taken] = line.splice(index, 1);
    lines.delete(network);
    if (line.length > 0) lines.set(network, line);
    return taken;
  }

  return async function enqueue<Result>(network: string, work: () => Promise<Result>): Promise<Result> {
    if (running < atOnce) running += 1;
    else if (!(await waitForSlot(network))) {
      publicError(503, 'Too many people are signing in. Try again in a minute.');
    }
    try {
      return await work();
    } finally {
      const [next] = lines.keys();
      if (next === undefined) running -= 1;
      else take(next, 0)?.(true);
    }
  };
}
