import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import type express from 'express';
import type { RequestHandler, Response } from 'express';
import { Server as SocketServer } from 'socket.io';
import { io as dialSocketIo } from 'socket.io-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ClientOptions, WebSocket, WebSocketServer } from 'ws';
import { createDrain } from '../../../src/server/connection/drain.ts';
import { createHttpServer, type HttpServerOptions } from '../../../src/server/connection/http-server.ts';
import { createFunnel } from '../../../src/server/errors/funnel.ts';
import { createPathScrubber } from '../../../src/server/errors/scrub/secret-path.ts';
import { createScrubber } from '../../../src/server/errors/scrub.ts';
import type { LoadedApp } from '../../../src/server/front/existing-app.ts';
import { handleUpgrades, type Upgrades } from '../../../src/server/front/upgrades.ts';
import { createOrigins } from '../../../src/server/request/origins.ts';
import { createProxyTrust } from '../../../src/server/request/proxy-trust.ts';
import { createTestApp, spyOnLog, TEST_SERVER, type TestAppOptions } from '../../support/app.ts';
import { listen } from '../../support/listen.ts';
import { askRaw, listStatuses, openSocket, sendRaw } from '../../support/raw-http.ts';
import { testMaker } from '../../support/unguarded.ts';
import { until } from '../../support/until.ts';

const express4 = createRequire(import.meta.url)('express4') as typeof express;

type SocketAppOptions = Pick<TestAppOptions, 'steps' | 'publicOrigins'> &
  Partial<Pick<HttpServerOptions, 'limits'>> & { readonly upgrades?: Upgrades; readonly existingApp?: LoadedApp };

/** Echoes what it receives, with the user that a step set on the request. */
const echo: Upgrades = {
  '/live': (request, socket, head) => {
    const user = (request as { user?: string }).user ?? 'nobody';
    new WebSocketServer({ noServer: true }).handleUpgrade(request, socket, head, (peer) => {
      peer.on('message', (data) => peer.send(`${user}: ${data}`));
    });
  },
};

async function startSockets({
  steps = [],
  publicOrigins = [],
  upgrades = echo,
  limits = TEST_SERVER.limits,
  existingApp,
}: SocketAppOptions = {}) {
  const { log, lines } = spyOnLog();
  const funnel = createFunnel(testMaker, { log });
  const app = createTestApp({ log, funnel, steps, publicOrigins, ...(existingApp && { existingApp }) });
  const site = createHttpServer(app, { ...TEST_SERVER, limits }, { log });
  const { server, connections } = site;
  const rules = {
    origins: createOrigins(publicOrigins, 'http://localhost:3000'),
    trust: createProxyTrust(undefined),
    takeCredentials: (_req: unknown, _res: unknown, next: () => void) => next(),
  };
  const records = { log, funnel, scrubPath: createPathScrubber(createScrubber()) };
  const upgraded = handleUpgrades(site, { rules, records }, { upgrades, existing: existingApp?.server, steps });
  const drain = createDrain({ server, connections, upgraded, lag: 0, deadline: 3000 });
  const port = await listen(server);
  onTestFinished(() => {
    server.close();
    for (const socket of connections.sockets) socket.destroy();
  });
  return { port, lines, drain, url: `ws://127.0.0.1:${port}` };
}

/** Resolves with the peer, or with the status of the rejection. */
function dial(url: string, options: ClientOptions = {}): Promise<WebSocket | number> {
  return new Promise((resolve, reject) => {
    const peer = new WebSocket(url, options);
    peer.on('open', () => resolve(peer));
    peer.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
    peer.on('error', reject);
    onTestFinished(() => peer.terminate());
  });
}

const toHandshake = () =>
  [
    ...['GET /live HTTP/1.1', 'Host: a', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  ].join('\r\n');

async function dialOpen(url: string, options?: ClientOptions) {
  const peer = await dial(url, options);
  if (typeof peer === 'number') throw new Error(`The handshake was refused with ${peer}.`);
  return peer;
}

async function say(peer: WebSocket, text: string) {
  const answer = once(peer, 'message');
  peer.send(text);
  return String((await answer)[0]);
}

/** Waits for the line of a socket. */
async function lineOf(lines: readonly Record<string, unknown>[]) {
  const find = () => lines.find(({ msg }) => msg === 'upgrade');
  await until(() => find() !== undefined, 'the line of the socket');
  return find() ?? expect.unreachable();
}

describe('a WebSocket', () => {
  it('is accepted on its path with any query, and logged when it ends', async () => {
    const { url, lines } = await startSockets();
    const peer = await dialOpen(`${url}/live?room=7`);
    expect(await say(peer, 'hello')).toBe('nobody: hello');
    peer.close(1000);
    expect(await lineOf(lines)).toMatchObject({ path: '/live', status: 101 });
  });

  it('is not idle: a younger idle connection is closed before it', async () => {
    const { url, port } = await startSockets({ limits: { total: 128, ofSender: 2 } });
    const peer = await dialOpen(`${url}/live`);
    const idle = openSocket(port);
    await until(() => idle.isOpen, 'the idle connection');
    const isReset = () => askRaw(port, 'GET /livez HTTP/1.1').then(({ status }) => status === 0);
    await expect.poll(isReset).toBe(false);
    await idle.closed;
    expect(await say(peer, 'hello')).toBe('nobody: hello');
  });

  it('is handled as an ordinary request on any other path', async () => {
    const { url, port } = await startSockets();
    expect(await dial(`${url}/elsewhere`)).toBe(404);
    expect(await dial(`${url}/live/`)).toBe(404);
    expect(await dial(`${url}/`)).toBe(200);
    const upgrade = ['Host: localhost', 'Connection: Upgrade', 'Upgrade: h2c'];
    expect((await askRaw(port, 'GET /admin HTTP/1.1', upgrade)).status).toBe(200);
    expect((await askRaw(port, 'GET /live HTTP/1.1')).status).toBe(404);
  });

  it('is handled as one behind a request that is still being answered', async () => {
    const slow: RequestHandler = async (req, res, next) => {
      if (req.path !== '/slow') return next();
      await sleep(50);
      res.send('slow');
    };
    const { port } = await startSockets({ steps: [slow] });
    const text = await sendRaw(port, `GET /slow HTTP/1.1\r\nHost: a\r\n\r\n${toHandshake()}`);
    expect(listStatuses(text)).toEqual([200, 404]);
  });

  it.each([
    ['Content-Length: 5', 404],
    ['Transfer-Encoding: chunked', 404],
    ['Content-Length: 0', 101],
  ])('is handled as one with a body: %s', async (header, status) => {
    const { port } = await startSockets();
    const text = await sendRaw(port, toHandshake().replace('Host: a', `Host: a\r\n${header}`));
    expect(listStatuses(text)).toEqual([status]);
  });

  const headers = { host: 'weir.example' };
  it.each<[string, options: ClientOptions, status: number | undefined, publicOrigins?: readonly string[]]>([
    ['another site', { origin: 'https://evil.example' }, 403],
    ['an opaque origin', { origin: 'null' }, 403],
    ['a cross-site script', { headers: { 'sec-fetch-site': 'cross-site' } }, 403],
    ['a same-site script', { headers: { 'sec-fetch-site': 'same-site' } }, 403],
    ['this site', { origin: 'http://127.0.0.1:port' }, undefined],
    ['no browser', {}, undefined],
    ['another host than the configured one', { origin: 'https://weir.example' }, 421, ['https://weir.example']],
    [
      'another scheme than the configured one',
      { headers, origin: 'http://weir.example' },
      403,
      ['https://weir.example'],
    ],
    ['the configured origin', { headers, origin: 'https://weir.example' }, undefined, ['https://weir.example']],
  ])('from %s is accepted or rejected', async (_name, options, status, publicOrigins = []) => {
    const { url, port } = await startSockets({ publicOrigins });
    const origin = options.origin?.replace('port', String(port));
    const peer = await dial(`${url}/live`, { ...options, ...(origin && { origin }) });
    if (status === undefined) expect(peer).toBeInstanceOf(WebSocket);
    else expect(peer).toBe(status);
  });

  it('is opened after product steps, which can reject it or identify the user', async () => {
    const gate: RequestHandler = async (req, res, next) => {
      await sleep(10);
      const key = req.get('x-key');
      if (key === 'broken') throw new Error('canary in a step');
      if (key !== 'ada') return void res.status(401).send('Who are you?');
      Object.assign(req, { user: `ada at ${req.ip}` });
      next();
    };
    const { url, lines } = await startSockets({ steps: [gate] });
    expect(await dial(`${url}/live`)).toBe(401);
    expect(await dial(`${url}/live`, { headers: { 'x-key': 'broken' } })).toBe(500);
    expect(lines).toContainEqual(expect.objectContaining({ msg: 'A request failed.', url: '/live' }));
    const peer = await dialOpen(`${url}/live`, { headers: { 'x-key': 'ada' } });
    expect(await say(peer, 'x')).toBe('ada at 127.0.0.1: x');
  });

  it('is closed if its handler fails, and the failure is logged', async () => {
    const { port, lines } = await startSockets({ upgrades: { '/live': () => Promise.reject(new Error('no room')) } });
    expect(await sendRaw(port, toHandshake(), { patience: 2000 })).toBe('');
    expect(lines).toContainEqual(expect.objectContaining({ msg: 'A request failed.', origin: 'step', url: '/live' }));
  });
});

it('a drain closes sockets with 1001, and ends when they are closed', async () => {
  const { url, drain } = await startSockets();
  const closed = once(await dialOpen(`${url}/live`), 'close');
  expect(await drain()).toEqual({ cut: 0, owed: 0 });
  expect((await closed)[0]).toBe(1001);
});

describe("an existing app's server", () => {
  function createExisting() {
    const app = express4().get('/plain', (_req: unknown, res: Response) => res.send('plain'));
    return { app, server: createServer(app) };
  }

  it.each(['polling', 'websocket'])('works with socket.io, by %s', async (transport) => {
    const existingApp = createExisting();
    const sockets = new SocketServer(existingApp.server, { cors: { origin: 'https://other.example' } });
    sockets.on('connection', (socket) => socket.on('ask', (text, answer) => answer(`heard ${text}`)));
    const { port } = await startSockets({ existingApp });
    const client = dialSocketIo(`http://127.0.0.1:${port}`, {
      transports: [transport],
      extraHeaders: { origin: 'https://other.example', 'sec-fetch-site': 'cross-site' },
    });
    onTestFinished(async () => {
      client.close();
      await sockets.close();
    });
    expect(await client.timeout(30_000).emitWithAck('ask', 'this')).toBe('heard this');
    expect(await (await fetch(`http://127.0.0.1:${port}/plain`)).text()).toBe('plain');
    // The app calls next().
    const missing = await fetch(`http://127.0.0.1:${port}/missing`);
    expect([missing.status, await missing.text()]).toEqual([404, '<h1>Page not found</h1>']);
  });

  it('works with `ws`, together with upgrade.ts', async () => {
    const existingApp = createExisting();
    const theirs = new WebSocketServer({ server: existingApp.server, path: '/theirs' });
    theirs.on('connection', (peer) => peer.on('message', () => peer.send('theirs')));
    const { url } = await startSockets({ existingApp });
    const origin = 'https://other.example';
    expect(await say(await dialOpen(`${url}/theirs`, { origin }), 'hello')).toBe('theirs');
    expect(await dial(`${url}/live`, { origin })).toBe(403);
    expect(await say(await dialOpen(`${url}/live`), 'hello')).toBe('nobody: hello');
  });

  it('is not logged with the secrets of a path, whether a socket is accepted or refused', async () => {
    const existingApp = createExisting();
    new WebSocketServer({ server: existingApp.server });
    const closed: RequestHandler = (req, res, next) =>
      req.path.startsWith('/closed') ? void res.status(401).end() : next();
    const { url, lines } = await startSockets({ existingApp, steps: [closed] });
    const token = `eyJ${'a'.repeat(40)}.eyJ${'b'.repeat(40)}.${'c'.repeat(43)}`;
    (await dialOpen(`${url}/room/${token}`)).close(1000);
    expect(await dial(`${url}/closed/${token}`)).toBe(401);
    const logged = () => lines.filter(({ msg }) => msg === 'upgrade');
    await until(() => logged().length === 2, 'the lines of both sockets');
    expect(
      logged()
        .map(({ path, status }) => `${path} ${status}`)
        .sort(),
    ).toEqual(['/closed/[redacted] 401', '/room/[redacted] 101']);
    expect(JSON.stringify(lines)).not.toContain(token);
  });
});
