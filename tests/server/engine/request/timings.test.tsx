import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import { describe, expect, it } from 'vitest';
import { requestInfo } from '../../../../src/server/engine/request/request-info.ts';
import { startPages, type TestPage } from '../../../support/pages-app.tsx';

const TABLE: readonly TestPage[] = [
  {
    id: 'root',
    view: () => <p>root</p>,
    server: { guard: () => sleep(5) },
    children: [
      { id: 'orders', path: '/orders', view: () => <p>orders</p>, server: { loader: () => sleep(20, 'data') } },
    ],
  },
];

/** Marks the request like a step does that knows the session of an operator. */
const asOperator: RequestHandler = (req, _res, next) => {
  requestInfo(req).showsTimings = true;
  next();
};

/** Returns the milliseconds by name of phase and route. */
function parse(header: unknown): Record<string, number> {
  return Object.fromEntries(
    String(header)
      .split(', ')
      .map((entry) => {
        const [, phase, , desc, ms] = /^(\w+)(;desc="([^"]*)")?;dur=([\d.]+)$/.exec(entry) ?? [];
        return [desc ?? phase, Number(ms)];
      }),
  );
}

describe('Server-Timing', () => {
  it.each(['/orders', '/_data/orders'])('shows an operator the timings of %s', async (path) => {
    const app = await startPages(TABLE, { steps: [asOperator] });
    const { status, headers } = await app.ask(path);
    expect(status).toBe(200);
    const times = parse(headers['server-timing']);
    expect(Object.keys(times)).toEqual([
      'guard of root',
      'loader of orders',
      ...(path === '/orders' ? ['queue', 'render'] : []),
      'total',
    ]);
    expect(times['guard of root']).toBeGreaterThan(3);
    expect(times['loader of orders']).toBeGreaterThan(15);
    expect(times.total).toBeGreaterThan(20);
  });

  it('is sent only to operators', async () => {
    const app = await startPages(TABLE);
    for (const path of ['/orders', '/_data/orders']) {
      const { status, headers } = await app.ask(path);
      expect([status, headers['server-timing']]).toEqual([200, undefined]);
    }
  });
});
