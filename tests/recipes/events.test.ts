import { expect, it } from 'vitest';
import { listFailures } from '../support/server-process.ts';
import { openPage, useRecipe } from './recipe.ts';

const app = useRecipe('events');

it('shows changes on open pages, to signed-in users, a few streams each, until it stops', async () => {
  const { url, stop, log } = await app.start();
  // As an `EventSource` asks.
  const connect = (headers: Record<string, string>) =>
    fetch(`${url}/api/events`, { headers: { Accept: 'text/event-stream', ...headers } });
  expect((await connect({})).status).toBe(401);

  const first = await connect({ cookie: 'user=emmy' });
  const reader = first.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toBe('event: change\ndata:\n\n');

  const { page } = await openPage(url, {
    before: (page) => page.context().addCookies([{ name: 'user', value: 'ada', url }]),
  });
  await page.getByRole('heading', { name: '1 orders' }).waitFor();
  await expect
    .poll(async () => {
      await fetch(url, { method: 'POST', redirect: 'manual', body: new URLSearchParams() });
      return page.getByRole('heading').innerText();
    })
    .not.toBe('1 orders');
  expect((await reader?.read())?.value).toMatch(/^event: change\ndata:\n\n/);

  const more = await Promise.all(Array.from({ length: 10 }, () => connect({ cookie: 'user=emmy' })));
  expect(more.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 429]);
  expect(await stop()).toBe(0);
  expect(log()).not.toContain('Connections were cut');
  expect(listFailures(log())).toEqual([]);
});
