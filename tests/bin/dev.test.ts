import { expect, it, onTestFinished } from 'vitest';
import { startDevApp } from '../support/dev-app.ts';
import { until } from '../support/until.ts';

it('says once what may be set, however often the server is exchanged', async () => {
  const app = await startDevApp();
  onTestFinished(() => app.stop());
  const count = (words: string) => app.output().split(words).length - 1;
  for (const [from, to, servers] of [
    ['from the loader', 'second words', 2],
    ['second words', 'third words', 3],
  ] as const) {
    app.edit('src/server/product/words.ts', from, to);
    await until(() => count('Listening on') === servers, `server ${servers}`, 20_000);
  }
  expect(count('PUBLIC_ORIGINS is not set')).toBe(1);
}, 60_000);

it('ends a server that has just been started, too', async () => {
  const app = await startDevApp();
  const count = (words: string) => app.output().split(words).length - 1;
  app.edit('src/server/product/words.ts', 'from the loader', 'other words');
  // The next server is started now, and the one before it still serves.
  await until(() => count('built in') === 1, 'the second build', 20_000);
  await app.stop();
}, 60_000);
