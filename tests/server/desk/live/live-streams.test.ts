import { createServer, get, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { MAX_LIVE_STREAMS_OF_SESSION } from '../../../../src/server/desk/limits.ts';
import { StoreAwayError } from '../../../../src/server/desk/store/sql.ts';
import { InFlight } from '../../../../src/server/engine/connection/in-flight.ts';
import { Second } from '../../../../src/shared/units.ts';
import { type DeskSiteOptions, startDeskSite } from '../../../support/desk-site.ts';
import { ingest, thinOf, wholeOf } from '../../../support/stores.ts';
import { noPathScrubber } from '../../../support/unguarded.ts';
import { until } from '../../../support/until.ts';

async function start(options: DeskSiteOptions = {}) {
  const site = await startDeskSite({ pingInterval: 100, ...options, deps: { compression: true, ...options.deps } });
  const server = createServer(site.app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const cookie = await site.enter();

  async function open(headers: Record<string, string> = { Cookie: cookie }) {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get({ port, path: '/desk/live', agent: false, headers }, resolve).on('error', reject);
    });
    const stream = { response, text: '', isOver: false };
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      stream.text += chunk;
    });
    for (const event of ['end', 'error', 'close']) {
      response.on(event, () => {
        stream.isOver = true;
      });
    }
    return stream;
  }
  return { ...site, cookie, port, open };
}

const count = (text: string, event: string) => text.split(`event: ${event}\n`).length - 1;

it('cannot be cached, compressed or buffered by a proxy', async () => {
  const { open, cookie } = await start();
  const { response, text } = await open({ Cookie: cookie, 'Accept-Encoding': 'gzip, br' });
  expect(response.statusCode).toBe(200);
  expect(response.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    'referrer-policy': 'same-origin',
  });
  expect(response.headers['content-encoding']).toBeUndefined();
  expect(text).toBe('');
});

it('sets the reconnection time, sends pings, and announces changes without their content', async () => {
  const { open, store } = await start();
  const stream = await open();
  await until(() => count(stream.text, 'ping') > 2, 'pings');
  const [, retry] = /^retry: (\d+)\n\n/.exec(stream.text) ?? [];
  expect(Number(retry)).toBeGreaterThanOrEqual(1000);
  expect(Number(retry)).toBeLessThanOrEqual(5000);
  expect(count(stream.text, 'changes')).toBe(0);
  await ingest(store, wholeOf({ digest: '7K3QM2XA', title: 'Error: secret title' }));
  await until(() => count(stream.text, 'changes') === 1, 'the announcement of a new incident');
  await ingest(store, thinOf({ digest: '7K3QM2XA' }));
  await until(() => count(stream.text, 'changes') === 2, 'the announcement of another occurrence');
  await store.addNote('7K3QM2XA', 'secret note', 'ada');
  await until(() => count(stream.text, 'changes') === 3, 'the announcement of a note');
  expect(stream.text.replaceAll(/event: (?:ping|changes)\ndata:\n\n/g, '')).toBe(`retry: ${retry}\n\n`);
});

it('requires a session, and a request from this site', async () => {
  const { open, cookie } = await start();
  expect((await open({})).response.statusCode).toBe(401);
  expect((await open({ Cookie: 'desk=forged' })).response.statusCode).toBe(401);
  expect((await open({ Cookie: cookie, 'Sec-Fetch-Site': 'cross-site' })).response.statusCode).toBe(403);
  expect((await open({ Cookie: cookie, 'Sec-Fetch-Site': 'same-site' })).response.statusCode).toBe(403);
  expect((await open({ Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' })).response.statusCode).toBe(200);
});

it('ends with its session', async () => {
  const { open, post, cookie } = await start();
  const stream = await open();
  await post('/desk', { _action: 'root.signOut' }, cookie);
  await until(() => stream.isOver, 'the end of the stream');
  expect((await open()).response.statusCode).toBe(401);
});

it('continues while the store is unavailable', async () => {
  const { store } = await startDeskSite();
  let isAway = false;
  const readSession = async (idHash: string) => {
    if (isAway) throw new StoreAwayError('away');
    return store.readSession(idHash);
  };
  const sessions = new Proxy(store, {
    get: (of, name) => (name === 'readSession' ? readSession : Reflect.get(of, name).bind(of)),
  });
  const { open, pass } = await start({ sessions });
  const stream = await open();
  isAway = true;
  await pass(2 * Second);
  const before = count(stream.text, 'ping');
  await until(() => count(stream.text, 'ping') > before + 2, 'more pings');
  expect(stream.isOver).toBe(false);
  expect((await open()).response.statusCode).toBe(503);
});

it('is limited in number per session, and frees its place when it ends', async () => {
  const { open, enter } = await start();
  const streams = [];
  for (let index = 0; index < MAX_LIVE_STREAMS_OF_SESSION; index++) streams.push(await open());
  expect(streams.map(({ response }) => response.statusCode)).toEqual(streams.map(() => 200));
  expect((await open()).response.statusCode).toBe(429);
  expect((await open({ Cookie: await enter() })).response.statusCode).toBe(200);
  streams[0]?.response.destroy();
  await expect.poll(async () => (await open()).response.statusCode).toBe(200);
});

it('takes no place for a page that was closed while its session was looked up', async () => {
  const { store } = await startDeskSite();
  const lookUps: (() => void)[] = [];
  let isSlow = false;
  const readSession = async (idHash: string) => {
    const session = await store.readSession(idHash);
    if (isSlow) await new Promise<void>((resolve) => lookUps.push(resolve));
    return session;
  };
  const sessions = new Proxy(store, {
    get: (of, name) => (name === 'readSession' ? readSession : Reflect.get(of, name).bind(of)),
  });
  const inFlight = new InFlight(noPathScrubber);
  const { open, port, cookie, lines } = await start({ sessions, deps: { inFlight } });
  isSlow = true;
  const asked = Array.from({ length: MAX_LIVE_STREAMS_OF_SESSION }, () =>
    get({ port, path: '/desk/live', agent: false, headers: { Cookie: cookie } }).on('error', () => {}),
  );
  await until(() => inFlight.size === asked.length && lookUps.length > 0, 'the lookup');
  for (const request of asked) request.destroy();
  const left = () => lines.filter(({ path, gone }) => path === '/desk/live' && gone === true).length;
  await until(() => left() === MAX_LIVE_STREAMS_OF_SESSION, 'the closed streams to be released');
  isSlow = false;
  for (const resolve of lookUps) resolve();
  expect((await open()).response.statusCode).toBe(200);
});

it('ends when the server drains, and no new stream is accepted', async () => {
  const { open, pages } = await start();
  const streams = [await open(), await open()];
  pages.endStreams();
  await until(() => streams.every(({ isOver }) => isOver), 'the end of the streams');
  expect((await open()).response.statusCode).toBe(503);
});

it('answers HEAD with headers only, and rejects other methods', async () => {
  const { port, cookie } = await start();
  const ask = (method: string) =>
    new Promise<IncomingMessage>((resolve) => {
      request({ port, path: '/desk/live', method, agent: false, headers: { Cookie: cookie } }, resolve).end();
    });
  const head = await ask('HEAD');
  expect([head.statusCode, head.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
  expect((await ask('PUT')).statusCode).toBe(405);
});
