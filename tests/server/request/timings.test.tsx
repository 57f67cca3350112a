import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import { expect, it } from 'vitest';
import { requestInfo } from '../../../src/server/request/request-info.ts';
import { startPages, type TestPage } from '../../support/pages-app.tsx';

const TABLE: readonly TestPage[] = [
  {
    id: 'root',
    server: { guard: () => sleep(5) },
    children: [{ id: '注文', path: '/orders', server: { loader: () => sleep(20, 'data') } }],
  },
];

/** Marks the request like a step does that knows the session of an operator. */
const asOperator: RequestHandler = (req, _res, next) => {
  requestInfo(req).showsTimings = true;
  next();
};

it.each(['/orders', '/_data/orders'])('Server-Timing shows only an operator the timings of %s', async (path) => {
  expect((await (await startPages(TABLE)).ask(path)).headers['server-timing']).toBeUndefined();
  const { headers } = await (await startPages(TABLE, { steps: [asOperator] })).ask(path);
  const entries = String(headers['server-timing']).matchAll(/(\w+)(?:;desc="([^"]*)")?;dur=([\d.]+)/g);
  const times = [...entries].map(([, phase, name = phase, ms]) => [name, Number(ms)]);
  const phases = path === '/orders' ? ['queue', 'render'] : [];
  expect(times.map(([name]) => name)).toEqual(['guard of root', 'loader of ??', ...phases, 'total']);
  expect(times[1]?.[1]).toBeGreaterThan(15);
  expect(times.at(-1)?.[1]).toBeGreaterThan(20);
});
