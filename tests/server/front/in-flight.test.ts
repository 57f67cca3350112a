import type { Request, Response } from 'express';
import { expect, it } from 'vitest';
import { implement } from '../../../src/server/api/implement.ts';
import { resource } from '../../../src/server/api/resource.ts';
import { InFlight, readInFlight } from '../../../src/server/front/in-flight.ts';
import { operation } from '../../../src/shared/api/operation.ts';
import { startTestServer } from '../../support/app.ts';
import { until } from '../../support/until.ts';

it('are those that reach the app, without the secrets in their paths', async () => {
  const inFlight = new InFlight();
  const list = () => readInFlight(inFlight.shared).map(({ route }) => route);
  const seen: string[] = [];
  const scrubPath = (path: string, route?: string) => path.replace(route ? 'by-route' : 'by-look', '[redacted]');
  const steps = [
    (_req: Request, res: Response) => {
      seen.push(...list());
      res.send('');
    },
  ];
  const replies = { 204: { about: 'Nothing.' } };
  const contract = { readLink: operation({ method: 'GET', path: '/links/:key', summary: 'A link', replies }) };
  const api = [implement(contract, { readLink: () => ({ status: 204 }) }), resource('/keys/:key', {})];
  const { port } = await startTestServer({ inFlight, scrubPath, steps, api });
  for (const path of ['livez', 'links/by-look?q=1', 'api/links/by-route', 'api/keys/by-route', 'api/by-look', 'api']) {
    await fetch(`http://127.0.0.1:${port}/${path}`);
  }
  const ofApi = ['/api/links/[redacted]', '/api/keys/*', '/api/[redacted]', '/api'];
  expect(seen).toEqual(['/links/[redacted]', ...ofApi]);
  await until(() => inFlight.size === 0, 'the end of the requests');
  expect(list()).toEqual([]);
});
