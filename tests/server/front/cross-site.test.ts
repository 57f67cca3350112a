import { createServer } from 'node:http';
import type { Response } from 'express';
import request from 'supertest';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createFakePages, createTestApp, spyOnLog } from '../../support/app.ts';
import { listenInTest } from '../../support/listen.ts';

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const SITES = [undefined, 'same-origin', 'none', 'same-site', 'cross-site', 'garbage'];
const SAME = 'https://example.com';
const ORIGINS = [
  ...[undefined, 'null', SAME, 'https://www.example.com', 'https://example.com:8443', 'http://example.com'],
  ...['https://evil.example', '%%%'],
];

/** The rule, implemented a second time. */
function passes(own: string[], method: string, site: string | undefined, origin: string | undefined) {
  if (['GET', 'HEAD', 'OPTIONS'].includes(method)) return true;
  if (site === 'same-origin' || site === 'none') return true;
  return site === undefined && (origin === undefined || own.includes(origin));
}

it.each([
  ['with PUBLIC_ORIGINS', [SAME, 'https://www.example.com']],
  ['without PUBLIC_ORIGINS', []],
])('each combination of method, site and origin is decided by the rule, %s', async (_name, publicOrigins) => {
  const act = vi.fn((_req: unknown, res: Response) => void res.send('acted'));
  const app = createTestApp({
    publicOrigins,
    trustProxy: ['loopback'],
    pages: createFakePages({ pages: act }),
  });
  const server = createServer(app);
  await listenInTest(server);
  for (const method of METHODS) {
    const cases = SITES.flatMap((site) => ORIGINS.map((origin) => [method, site, origin] as const));
    const own = publicOrigins.length > 0 ? publicOrigins : [SAME];
    const passing = cases.filter((one) => passes(own, ...one));
    act.mockClear();
    const replies = await Promise.all(
      cases.map(async ([, site, origin]) => {
        const headers = {
          ...{ Host: 'example.com', 'X-Forwarded-Proto': 'https' },
          ...(site !== undefined && { 'Sec-Fetch-Site': site }),
          ...(origin !== undefined && { Origin: origin }),
        };
        return request(server)[method.toLowerCase() as Lowercase<typeof method>]('/admin').set(headers);
      }),
    );
    expect(cases.filter((_, index) => replies[index]?.status !== 403)).toEqual(passing);
    if (['GET', 'HEAD', 'POST'].includes(method)) expect(act).toHaveBeenCalledTimes(passing.length);
  }
});

it.each([
  ['without PUBLIC_ORIGINS', []],
  ['with PUBLIC_ORIGINS', ['http://example.com']],
])('logs once a minute why a request is refused, %s', async (_, publicOrigins) => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { log, lines } = spyOnLog();
  const app = createTestApp({ log, publicOrigins });
  const post = (headers: Record<string, string>) =>
    request(app)
      .post('/admin')
      .set({ Host: 'example.com', ...headers })
      .expect(403);
  const said = () => lines.filter(({ msg }) => String(msg).includes('PUBLIC_ORIGINS'));
  for (let time = 0; time < 2; time++) await post({ Origin: SAME });
  // With Sec-Fetch-Site, the setting changes nothing.
  const msg = expect.stringContaining('If this line has no `site` and visitors use that Origin, add it to');
  const first = { origin: SAME, address: 'http://example.com', requestId: expect.any(String), msg };
  expect(said()).toMatchObject([first]);
  vi.advanceTimersByTime(60_000);
  await post({ Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' });
  expect(said()).toMatchObject([first, { origin: 'https://evil.example', site: 'cross-site' }]);
});
