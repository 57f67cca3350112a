import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createFairQueue, createHashing, hashFor } from '#product-server/accounts/hashing.ts';

/** Runs work of a network. Its name is in `started` when it runs, and it ends with `end()`. */
function openQueue(maxWaiting: number) {
  const enqueue = createFairQueue({ atOnce: 1, maxWaiting });
  const started: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  return {
    started,
    run: (network: string, name: string) =>
      enqueue(network, () => {
        started.push(name);
        return new Promise<void>((resolve, reject) => ends.set(name, (error) => (error ? reject(error) : resolve())));
      }),
    async end(name: string, error?: Error) {
      ends.get(name)?.(error);
      await setImmediate();
    },
  };
}

it('runs only a few at the same time, also after one has failed, and refuses more than can wait', async () => {
  const { run, started, end } = openQueue(1);
  const results = Promise.allSettled([run('a', 'first'), run('a', 'second')]);
  await expect(run('a', 'third')).rejects.toMatchObject({ status: 503 });
  expect(started).toEqual(['first']);
  await end('first', new Error('The first one fails.'));
  expect(started).toEqual(['first', 'second']);
  await end('second');
  await results;
  void run('a', 'fourth');
  expect(started.at(-1)).toBe('fourth');
});

it('lets the networks take turns, and refuses the network that has most waiting', async () => {
  const { run, started, end } = openQueue(3);
  const many = ['a1', 'a2', 'a3', 'a4'].map((name) => run('a', name));
  const refused = expect(many[3]).rejects.toMatchObject({ status: 503 });
  void run('b', 'b1');
  await refused;
  for (const name of ['a1', 'b1', 'a2']) await end(name);
  expect(started).toEqual(['a1', 'b1', 'a2', 'a3']);
});

it('counts a /48 as one network', async () => {
  const hashing = createHashing();
  const ended: string[] = [];
  const hash = (sender: string, name: string) => hashFor(sender, () => hashing.hash(name)).then(() => ended.push(name));
  const senders = [1, 2, 3, 4, 5, 6, 7, 8].map((index) => `2001:db8:7:${index}`);
  const all = senders.map((sender, index) => hash(sender, `${index}`));
  await hash('198.51.100.7', 'visitor');
  expect(ended.length).toBeLessThan(6);
  await Promise.all(all);
});
