import { expect, it } from 'vitest';
import { InFlight } from '../../../../src/server/engine/connection/in-flight.ts';
import { RequestInfo } from '../../../../src/server/engine/request/request-info.ts';
import { startTestServer } from '../../../support/app.ts';
import { noPathScrubber } from '../../../support/unguarded.ts';

function createInfo(requestId: string): RequestInfo {
  return new RequestInfo({ requestId, method: 'GET', address: '::1', origin: 'http://localhost' });
}

it('lists requests in flight, oldest first, fifty at most', () => {
  const inFlight = new InFlight(noPathScrubber);
  const infos = Array.from({ length: 60 }, (_, index) => createInfo(`request-${index}`));
  for (const info of infos) inFlight.add(info);
  const [first] = infos;
  if (!first) throw new Error('There is a first one.');
  inFlight.delete(first);
  const second = infos[1];
  if (second) second.route = '/orders/:id';

  const listed = inFlight.list();
  expect(inFlight.size).toBe(59);
  expect(listed).toHaveLength(50);
  expect(listed[0]).toEqual({ requestId: 'request-1', method: 'GET', route: '/orders/:id', ms: expect.any(Number) });
  expect(listed[1]?.route).toBe('/');
});

it('redacts secrets in paths', () => {
  const inFlight = new InFlight((path) => path.replace('key', '[redacted]'));
  const info = createInfo('request-1');
  info.target = '/links/key?page=2';
  inFlight.add(info);
  expect(inFlight.list()[0]?.route).toBe('/links/[redacted]');
});

it('contains a request from its first step to its last byte', async () => {
  const inFlight = new InFlight(noPathScrubber);
  const seen: string[][] = [];
  const server = await startTestServer({
    inFlight,
    steps: [
      (_req, _res, next) => {
        seen.push(inFlight.list().map(({ route }) => route));
        next();
      },
    ],
  });
  try {
    await (await fetch(`http://127.0.0.1:${server.port}/api/echo`)).text();
    expect(seen).toEqual([['/api/echo']]);
    await expect.poll(() => inFlight.size).toBe(0);
  } finally {
    server.close();
  }
});
