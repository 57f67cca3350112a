import { Router } from 'express';
import { expect, it } from 'vitest';
import { createFailureMaker } from '../../../src/server/errors/create-failure.ts';
import type { Failure, Visitor } from '../../../src/server/errors/failure.ts';
import { createFunnel } from '../../../src/server/errors/funnel.ts';
import { report, reportTo, setTags } from '../../../src/server/errors/report.ts';
import { createScrubber } from '../../../src/server/errors/scrub.ts';
import { report as reportAnywhere } from '../../../src/shared/reporting/report.ts';
import { spyOnLog } from '../../support/app.ts';
import { startPages, type TestPage } from '../../support/pages-app.tsx';

/** Sends the reports of the process to a new funnel, and collects its failures. */
function collect() {
  const failures: Failure[] = [];
  const { log, lines } = spyOnLog();
  const record = (failure: Failure, visitor: Visitor | undefined) =>
    failures.push({ ...failure, ...(visitor && { visitor: visitor.id ?? visitor.address }) }) > 0;
  reportTo(
    createFunnel(createFailureMaker({ build: 'test' }, { scrubber: createScrubber() }), {
      log,
      sinks: { tracker: { record } },
    }),
  );
  return { failures, lines };
}

const handled = (where: string) => new Error(`handled in ${where}`);

const PAGES: readonly TestPage[] = [
  {
    id: 'home',
    path: '/',
    view() {
      reportAnywhere(handled('a component'));
      return <h1>Home</h1>;
    },
    server: {
      guard: () => setTags({ plan: 'pro', seats: '3' }),
      loader: () => void report(handled('a loader'), { tags: { seats: '4' } }),
    },
  },
];

it('reports from every place of a request, with the tags of that request, and changes no response', async () => {
  const { failures } = collect();
  const { promise: timer, resolve } = Promise.withResolvers<void>();
  const app = await startPages(PAGES, {
    steps: [(_req, _res, next) => [report(handled('a step')), next()]],
    routes: Router().get('/own', (_req, res) => {
      setTags({ own: 'yes' });
      setTimeout(() => resolve(void report(handled('a timer'))));
      res.end('fine');
    }),
  });
  expect(await app.ask('/')).toMatchObject({ status: 200, text: expect.stringContaining('<h1>Home</h1>') });
  const own = await app.ask('/own');
  expect(own).toMatchObject({ status: 200, text: 'fine' });
  expect(own.headers['x-error-digest']).toBeUndefined();
  await timer;
  const pro = { plan: 'pro', seats: '3' };
  expect(failures.map(({ title, origin, request, tags }) => [title, origin, request?.url, tags])).toEqual([
    ['Error: handled in a step', 'report', '/', undefined],
    ['Error: handled in a loader', 'report', '/', { ...pro, seats: '4' }],
    ['Error: handled in a component', 'report', '/', pro],
    ['Error: handled in a step', 'report', '/own', undefined],
    ['Error: handled in a timer', 'report', '/own', { own: 'yes' }],
  ]);
  expect(new Set(failures.map(({ requestId }) => requestId)).size).toBe(2);
});

it('knows the request also in what reads a body by events, as the body parsers of Express 4.17 do', async () => {
  const { failures } = collect();
  const app = await startPages(PAGES, {
    routes: Router().post('/hook', (req, res) => {
      const bytes = req.on('data', () => {});
      bytes.on('end', () => res.end(String(report(handled('a hook')))));
    }),
  });
  const body = 'x'.repeat(100_000); // which arrives later than its headers
  await app.ask('/hook', { method: 'POST', body });
  expect(failures.map(({ request }) => request?.url)).toEqual(['/hook']);
});

it('works outside of requests, for a user, and returns the address', () => {
  const { failures, lines } = collect();
  const error = handled('a job');
  const address = report(error, {
    user: 'ada',
    extra: { job: 7, password: 'canary' },
    tags: { mail: 'a@example.org' },
  });
  const [failure] = failures;
  expect(address).toBe(`${failure?.digest}-${failure?.occurrence}`);
  expect(failure).toMatchObject({ origin: 'service', visitor: 'ada', extra: { job: 7 } });
  expect(JSON.stringify([failures, lines])).not.toMatch(/canary|a@example/);
  expect(report(error)).toBe(address);
  expect(failures).toHaveLength(1);
  expect(lines).toMatchObject([{ level: 50, msg: 'A service failed.' }]);
  expect(failure?.level).toBeUndefined();
  setTags({ outside: 'yes' });
});

it('groups by the fingerprint, if there is one', () => {
  const { failures } = collect();
  const fingerprint = ['payments', 'card_declined'];
  report(new Error('one'), { fingerprint });
  report(new TypeError('another'), { fingerprint });
  report(new Error('one'), { fingerprint: ['payments', 'expired'] });
  const [one, another, other] = failures.map(({ digest }) => digest);
  expect(another).toBe(one);
  expect(other).not.toBe(one);
  expect(failures.some(({ unresolved }) => unresolved)).toBe(false);
});
