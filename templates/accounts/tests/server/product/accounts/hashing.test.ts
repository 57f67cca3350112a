import { expect, it } from 'vitest';
import { createTurns } from '#product-server/accounts/hashing.ts';

it('runs only a few at the same time, also after one has failed, and refuses more than can wait', async () => {
  const inTurn = createTurns({ atOnce: 1, maxWaiting: 1 });
  const started: string[] = [];
  const first = Promise.withResolvers<void>();
  const run = (name: string, until?: Promise<void>) =>
    inTurn(async () => {
      started.push(name);
      await until;
    });
  const results = Promise.allSettled([run('first', first.promise), run('second')]);
  await expect(run('third')).rejects.toMatchObject({ status: 503 });
  expect(started).toEqual(['first']);
  first.reject(new Error('The first one fails.'));
  await results;
  expect(started).toEqual(['first', 'second']);
  await run('fourth');
});
