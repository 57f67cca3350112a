import { EventEmitter, on } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Router } from 'express';
import * as z from 'zod';
import { implement } from '../../../src/server/api/implement.ts';
import { createDrain } from '../../../src/server/connection/drain.ts';
import { createHttpServer } from '../../../src/server/connection/http-server.ts';
import { listenOn } from '../../../src/server/connection/listen-on.ts';
import { createStop, onStopSignal } from '../../../src/server/connection/stop.ts';
import { createFunnel } from '../../../src/server/errors/funnel.ts';
import { createLogger } from '../../../src/server/request/logger.ts';
import { watchProcess } from '../../../src/server/start/listen.ts';
import { operation } from '../../../src/shared/api/operation.ts';
import { forbidden } from '../../../src/shared/routing/control-flow.ts';
import { createFakeApi, createTestApp, TEST_SERVER } from '../../support/app.ts';
import { testMaker } from '../../support/unguarded.ts';

// A separate process with the real app: `node drain-server.ts <lag> <deadline> [hangs]`, both in ms.
const [lag = 0, deadline = 0] = process.argv.slice(2).map(Number);

const routes = Router()
  .get('/slow', (_req, res) => void setTimeout(() => res.send('slow and whole'), 400))
  .get('/endless', (_req, res) => {
    res.writeHead(200, { 'Content-Type': 'text/event-stream' });
    res.write('event');
  })
  .all('/answer', (_req, res) => {
    res.writeHead(200, { 'Content-Type': 'text/event-stream' });
    res.write('first ');
    setTimeout(() => res.end('last'), 400);
  })
  .get('/big', (_req, res) => void res.end(Buffer.alloc(20_000_000, 'x')))
  .get('/stand-still', (_req, res) => {
    res.send('stood still');
    setTimeout(() => {
      for (const end = performance.now() + 400; performance.now() < end; );
    }, 50);
  })
  .get('/busy', (_req, res) => {
    for (const end = performance.now() + 20; performance.now() < end; );
    res.send('done');
  })
  .get('/never', () => undefined)
  .get('/reject', (_req, res) => {
    void Promise.reject(new Error('nobody handles this'));
    res.send('answered');
  })
  .get('/unawaited', (_req, res) => {
    const checkOwner = async () => forbidden();
    void checkOwner();
    res.send('answered');
  })
  .get('/throw-before', () => {
    setTimeout(() => {
      throw new Error('nobody catches this either');
    });
  })
  .get('/throw-outside', (_req, res) => {
    res.send('answered');
    setTimeout(() => {
      throw new Error('nobody catches this');
    });
  });

const feed = operation({
  method: 'GET',
  path: '/feed',
  summary: 'Follow',
  replies: { 200: { about: 'A line each.', lines: z.string(), isEndless: true } },
});

const answer = operation({
  method: 'GET',
  path: '/answer',
  summary: 'Answer',
  replies: { 200: { about: 'A line each.', lines: z.string() } },
});

async function* follow(signal: AbortSignal) {
  yield 'event';
  for await (const [name] of on(new EventEmitter(), 'never', { signal })) yield String(name);
}

async function* think(signal: AbortSignal) {
  yield 'first';
  await sleep(400, undefined, { signal });
  yield 'last';
}

const handlers = {
  feed: ({ signal }: { signal: AbortSignal }) => ({ status: 200, lines: follow(signal) }) as const,
  answer: ({ signal }: { signal: AbortSignal }) => ({ status: 200, lines: think(signal) }) as const,
};
const api = [implement({ feed, answer }, handlers), createFakeApi()];

const { log, flush } = await createLogger({ level: 'info', terminal: false });
const funnel = createFunnel(testMaker, { log });
const state = { draining: false };
const app = createTestApp({ log, funnel, api, routes, readiness: state });
const { server, connections } = createHttpServer(app, TEST_SERVER, { log });
const onStart = () => void Object.assign(state, { draining: true });
const drain = createDrain({ server, connections, onStart, lag, deadline });
const close = () => new Promise<void>((resolve) => process.argv.includes('hangs') || resolve());
const exit = (code: number) => {
  flush();
  process.exit(code);
};
const stop = createStop({ drain, close, within: lag + deadline + 1000, log, exit });
watchProcess({ funnel, log, stop, connections: [connections] });
onStopSignal((signal) => stop(0, signal));
log.info(`Listening on ${await listenOn(server, { host: '127.0.0.1', port: 0 })}`);
