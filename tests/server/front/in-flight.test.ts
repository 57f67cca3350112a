import { expect, it } from 'vitest';
import { InFlight, readInFlight } from '../../../src/server/front/in-flight.ts';
import { startTestServer } from '../../support/app.ts';
import { recordRequest } from '../../support/in-flight.ts';
import { until } from '../../support/until.ts';

it('are listed, newest first, up to a limit, until their responses close', () => {
  const inFlight = new InFlight();
  const [first, second] = ['/a', `/b${'x'.repeat(5000)}`].map((path, index) =>
    recordRequest(inFlight, path, `r${index}`),
  );
  const at = { method: 'GET', ms: expect.any(Number) };
  const [newer, older] = readInFlight(inFlight.shared);
  expect(older).toEqual({ requestId: 'r0', route: '/a', ...at });
  expect(newer).toEqual({ requestId: 'r1', route: expect.stringMatching(/^\/bx{200,240}$/), ...at });
  if (first) inFlight.delete(first);
  expect(readInFlight(inFlight.shared).map(({ requestId }) => requestId)).toEqual(['r1']);
  if (second) inFlight.delete(second);
  const many = Array.from({ length: 200 }, (_, index) => recordRequest(inFlight, `/${index}`));
  expect([inFlight.size, readInFlight(inFlight.shared).length]).toEqual([200, 128]);
  for (const info of many) inFlight.delete(info);
  recordRequest(inFlight, '/last');
  expect([inFlight.size, readInFlight(inFlight.shared)]).toEqual([1, [expect.objectContaining({ route: '/last' })]]);
});

it('are those that reach the app, without the secrets in their paths', async () => {
  const inFlight = new InFlight();
  const seen: string[] = [];
  const scrubPath = (path: string) => path.replace('key', '[redacted]');
  const steps = [
    (_req: unknown, res: { send(text: string): void }) => {
      seen.push(...readInFlight(inFlight.shared).map(({ route }) => route));
      res.send('');
    },
  ];
  const { port } = await startTestServer({ inFlight, scrubPath, steps });
  await fetch(`http://127.0.0.1:${port}/livez`);
  await fetch(`http://127.0.0.1:${port}/links/key?q=1`);
  expect(seen).toEqual(['/links/[redacted]']);
  await until(() => inFlight.size === 0, 'the end of the requests');
  expect(readInFlight(inFlight.shared)).toEqual([]);
});
