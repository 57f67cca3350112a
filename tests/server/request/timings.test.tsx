import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import { expect, it } from 'vitest';
import { requestInfo } from '../../../src/server/request/request-info.ts';
import { startPages, type TestPage } from '../../support/pages-app.tsx';

const TABLE: readonly TestPage[] = [
  {
    id: 'root',
    server: { guard: () => sleep(5) },
    children: [{ id: 'orders', path: '/orders', server: { loader: () => sleep(20, 'data') } }],
  },
];

/** Marks the request like a step does that knows the session of an operator. */
const asOperator: RequestHandler = (req, _res, next) => {
  requestInfo(req).showsTimings = true;
  next();
};

it.each(['/orders', '/_data/orders'])('Server-Timing shows only an operator the timings of %s', async (path) => {
  const stranger = await (await startPages(TABLE)).ask(path);
  expect([stranger.status, stranger.headers['server-timing']]).toEqual([200, undefined]);
  const { headers } = await (await startPages(TABLE, { steps: [asOperator] })).ask(path);
  const entries = String(headers['server-timing']).matchAll(/(\w+)(?:;desc="([^"]*)")?;dur=([\d.]+)/g);
  const times = Object.fromEntries([...entries].map(([, phase = '', name = phase, ms]) => [name, Number(ms)]));
  const phases = path === '/orders' ? ['queue', 'render'] : [];
  expect(Object.keys(times)).toEqual(['guard of root', 'loader of orders', ...phases, 'total']);
  expect(times['guard of root']).toBeGreaterThan(3);
  expect(times['loader of orders']).toBeGreaterThan(15);
  expect(times.total).toBeGreaterThan(20);
});
