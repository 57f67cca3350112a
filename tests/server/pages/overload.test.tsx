import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { createOverload } from '../../../src/server/front/overload.ts';
import { createRenderLimiter } from '../../../src/server/front/render-limiter.ts';
import { startPages } from '../../support/pages-app.tsx';
import { openSocket } from '../../support/raw-http.ts';
import { until } from '../../support/until.ts';

/** The minimum cost of rendering the page (ms). */
const COST = 5;

function Costly() {
  const end = performance.now() + COST;
  while (performance.now() < end);
  return <p>here</p>;
}

const get = (path: string, header = 'Host: localhost') => `GET ${path} HTTP/1.1\r\n${header}\r\n\r\n`;

const PAGE = { id: 'costly', path: '/costly', view: Costly } as const;

it('answers what it can, refuses the rest, and recovers afterwards', async () => {
  const count = vi.fn();
  // Without lag measurements, which are late on a busy machine before anything has started.
  const onRefuse = () => count('spillway_requests_shed_total', { what: 'page', reason: 'renders' });
  const limiter = createRenderLimiter({ maxWaitMs: 50, onRefuse });
  const overload = createOverload({ delayMs: 50, maxPages: 1000, limiter, readLoopDelay: () => 0 });
  const app = await startPages([PAGE], { limiter, overload, metrics: { count, observeRequest() {} } });
  // All connect before the first one sends, because the server accepts one connection per event-loop iteration.
  const visits = Array.from({ length: 300 }, () => openSocket(app.port, get('/livez')));
  await until(() => visits.every(({ text }) => text.endsWith('ok\n')), 'the connections');
  for (const { socket } of visits) socket.write(get('/costly', 'Host: localhost\r\nConnection: close'));
  await Promise.all(visits.map(({ closed }) => closed));

  const text = visits.map((visit) => visit.text).join('\n');
  const countOf = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  const refused = countOf(/^HTTP\/1\.1 503/gm);
  expect([countOf(/^HTTP\/1\.1 200/gm), countOf(/<p>here/g)]).toEqual([600 - refused, 300 - refused]);
  expect(countOf(/^Retry-After: \d/gm)).toBe(refused);
  expect(count.mock.calls.filter(([name]) => name === 'spillway_requests_shed_total')).toHaveLength(refused);
  expect([refused > 0, refused < 300]).toEqual([true, true]);
  expect(app.failures()).toEqual([]);
  await expect.poll(async () => (await app.ask('/costly')).status).toBe(200);
  expect([limiter.pages, limiter.queued]).toEqual([0, 0]);
});

it('still answers forms whose action has run, and pages that show a failure', async () => {
  const limiter = createRenderLimiter({ maxWaitMs: 0 });
  const app = await startPages(
    [
      {
        ...PAGE,
        server: {
          actions: { default: () => 'done' },
          loader: ({ request }: { request: Request }) => {
            if (request.url.includes('fail')) throw new Error('of the test');
          },
        },
      },
    ],
    { limiter },
  );
  // There is always a request in front.
  const crowd = Array.from({ length: 20 }, () => app.ask('/costly'));
  const [posted, failed] = await Promise.all([app.post('/costly', '_action=costly.default'), app.ask('/costly?fail')]);
  await Promise.all(crowd);
  expect([posted.status, failed.status]).toEqual([200, 500]);
});

it('does not count a form among the pages in progress until all of it has arrived', async () => {
  const limiter = createRenderLimiter();
  const app = await startPages([PAGE], { limiter });
  const head =
    'POST /costly HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 9';
  const visit = openSocket(app.port, `${head}\r\n\r\na`);
  await sleep(200);
  expect(limiter.pages).toBe(0);
  visit.socket.write('=bcdefgh');
  await until(() => visit.text !== '', 'the response');
});

it('answers with static pages in memory, and refuses to render others, such as made-up variants', async () => {
  const overload = { level: 0, reason: 'pages' as const };
  const app = await startPages(
    [{ id: 'list', path: '/list', mode: 'static', searchKeys: ['q'], view: () => <p>here</p> }],
    { overload },
  );
  await app.ask('/list?q=a');
  overload.level = 1;
  const ask = async (path: string) => (await app.ask(path)).status;
  expect(await Promise.all(['/list?q=a', '/list?utm=x&q=a', '/_data/list?q=a'].map(ask))).toEqual([200, 200, 200]);
  expect(await Promise.all(['/list', '/list?q=b', '/_data/list?q=c'].map(ask))).toEqual([503, 503, 503]);
});
