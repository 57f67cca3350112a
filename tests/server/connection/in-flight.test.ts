import { expect, it } from 'vitest';
import { InFlight } from '../../../src/server/connection/in-flight.ts';
import { RequestInfo } from '../../../src/server/request/request-info.ts';

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
