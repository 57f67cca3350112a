import { createServer, type IncomingMessage, request } from 'node:http';
import { expect, it } from 'vitest';
import { MAX_LIVE_STREAMS } from '../../../../src/desk/server/desk-limits.ts';
import { Second } from '../../../../src/shared/units.ts';
import { listenInTest } from '../../../support/listen.ts';
import { until } from '../../../support/until.ts';
import { type DeskSiteOptions, startDeskSite } from '../../support/desk-site.ts';
import { fullOf, ingest } from '../../support/stores.ts';

async function start(options: DeskSiteOptions = {}) {
  const site = await startDeskSite({ pingInterval: 100, deps: { compression: true }, ...options });
  const port = await listenInTest(createServer(site.app));
  const cookie = await site.enter();

  async function open(headers: Record<string, string> = {}, method = 'GET') {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const asked = { port, path: '/desk/live', method, agent: false, headers: { Cookie: cookie, ...headers } };
      request(asked, resolve).on('error', reject).end();
    });
    const stream = { response, status: response.statusCode, text: '', isOver: false };
    response.setEncoding('utf8').on('data', (chunk: string) => {
      stream.text += chunk;
    });
    response
      .on('error', () => undefined)
      .on('close', () => {
        stream.isOver = true;
      });
    return stream;
  }
  return { ...site, cookie, open };
}

const EVENT = 'event: changed\ndata:\n\n';
const count = ({ text }: { readonly text: string }, part = EVENT) => text.split(part).length - 1;

it('sends an event at its beginning and after each change, without content, and pings', async () => {
  const { open, store } = await start();
  const stream = await open();
  await until(() => count(stream) === 1 && count(stream, ': ping') > 1, 'the first event, and pings');
  await ingest(store, fullOf({ title: 'Error: secret title' }));
  await until(() => count(stream) === 2, 'the second event');
  await store.history.addNote('7K3QM2XA@test', 'secret note', 'ada');
  await until(() => count(stream) === 3, 'the third event');
  expect(stream.text.replaceAll(EVENT, '').replaceAll(': ping\n\n', '')).toBe('');
});

it('cannot be cached, compressed or buffered by a proxy', async () => {
  const { open } = await start();
  const { response } = await open({ 'Accept-Encoding': 'gzip, br' });
  expect(response.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    'referrer-policy': 'same-origin',
  });
  expect(response.headers).not.toHaveProperty('content-encoding');
});

it.each([
  [401, { Cookie: '' }],
  [401, { Cookie: 'desk=forged' }],
  [403, { 'Sec-Fetch-Site': 'cross-site' }],
  [403, { 'Sec-Fetch-Site': 'same-site' }],
  [200, { 'Sec-Fetch-Site': 'same-origin' }],
  [200, {}, 'HEAD'],
  [405, {}, 'PUT'],
])('answers %d to %o', async (status, headers, method?: string) => {
  const { open } = await start();
  expect((await open(headers, method)).status).toBe(status);
});

it('is limited in number, and frees its place when it ends', async () => {
  const { open } = await start({ pingInterval: 60 * Second });
  const streams = await Promise.all(Array.from({ length: MAX_LIVE_STREAMS }, () => open()));
  expect(streams.filter(({ status }) => status !== 200)).toEqual([]);
  expect((await open()).status).toBe(503);
  streams[0]?.response.destroy();
  await expect.poll(async () => (await open()).status).toBe(200);
});

it('ends when the session ends, and no new stream is accepted', async () => {
  const { open, post, cookie } = await start();
  const stream = await open();
  await post('/desk', { _action: 'root.signOut' }, cookie);
  await until(() => stream.isOver, 'the end of the stream');
  expect((await open()).status).toBe(401);
});

it('ends if a check of its session fails', async () => {
  let isBroken = false;
  const site: Awaited<ReturnType<typeof start>> = await start({
    calls: {
      hasSession: async (...args) => (isBroken ? Promise.reject(new Error()) : site.store.sessions.hasSession(...args)),
    },
  });
  const stream = await site.open();
  isBroken = true;
  await until(() => stream.isOver, 'the end of the stream');
});
