import { expect, it, onTestFinished } from 'vitest';
import { InFlight } from '../../../../src/server/engine/connection/in-flight.ts';
import { RequestInfo } from '../../../../src/server/engine/request/request-info.ts';
import { startTestServer } from '../../../support/app.ts';

it('lists requests in flight, oldest first, fifty at most, without the secrets in their paths', () => {
  const inFlight = new InFlight((path) => path.replace('key', '[redacted]'));
  const infos = Array.from({ length: 60 }, (_, index) => {
    const facts = { requestId: `request-${index}`, method: 'GET', address: '::1', origin: 'http://localhost' };
    return Object.assign(new RequestInfo(facts), index === 1 ? { route: '/orders/:id' } : { target: '/links/key?a' });
  });
  for (const info of infos) inFlight.add(info);
  inFlight.delete(infos[0] as RequestInfo);
  const listed = inFlight.list();
  expect([inFlight.size, listed.length]).toEqual([59, 50]);
  expect(listed[0]).toEqual({ requestId: 'request-1', method: 'GET', route: '/orders/:id', ms: expect.any(Number) });
  expect(listed[1]?.route).toBe('/links/[redacted]');
});

it('contains a request from its first step to its last byte', async () => {
  const inFlight = new InFlight((path) => path);
  const seen: string[] = [];
  const server = await startTestServer({
    inFlight,
    steps: [(_req, _res, next) => [seen.push(...inFlight.list().map(({ route }) => route)), next()]],
  });
  onTestFinished(() => server.close());
  await (await fetch(`http://127.0.0.1:${server.port}/api/echo`)).text();
  expect(seen).toEqual(['/api/echo']);
  await expect.poll(() => inFlight.size).toBe(0);
});
