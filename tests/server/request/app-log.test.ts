import { expect, it } from 'vitest';
import { createFailureMaker } from '../../../src/server/errors/create-failure.ts';
import { createScrubber } from '../../../src/server/errors/scrub.ts';
import { createAppLog } from '../../../src/server/request/app-log.ts';
import { RequestInfo, runForRequest } from '../../../src/server/request/request-info.ts';
import { spyOnLog } from '../../support/app.ts';

const toFailure = createFailureMaker({ build: 'b' }, { scrubber: createScrubber() });

function start(level = 'trace') {
  const { log, lines } = spyOnLog();
  log.level = level;
  const info = new RequestInfo({ requestId: 'req-1', method: 'GET', address: '::1', origin: 'http://localhost' });
  const fail = () => toFailure({ error: new Error('boom') }, { origin: 'loader', info }).failure;
  return { app: createAppLog(log), lines, info, fail };
}

it('writes lines with the id of the request, and shows the last ones among the 100 breadcrumbs of a failure', () => {
  const { app, lines, info, fail } = start();
  runForRequest(info, () => {
    for (let index = 0; index < 110; index += 1) app.info({ index }, `line ${index}`);
    info.addBreadcrumb({ category: 'fetch', message: 'GET https://api.example/' });
  });
  app.warn({}, 'outside');
  app.info('alone' as never, undefined as never);
  expect(lines.slice(-3)).toMatchObject([
    { requestId: 'req-1', index: 109, msg: 'line 109' },
    { level: 40, msg: 'outside' },
    { level: 30, msg: 'alone' },
  ]);
  expect(lines.at(-2)).not.toHaveProperty('requestId');
  const { breadcrumbs = [] } = fail();
  const first = { category: 'log', level: 'info', message: 'line 11', data: { index: 11 } };
  expect(breadcrumbs).toMatchObject({ length: 100, 0: first, 99: { category: 'fetch' } });
});

it('keeps lines that LOG_LEVEL leaves out, and formats any field', () => {
  const { app, lines, info, fail } = start('error');
  const cyclic: Record<string, unknown> = { list: [1, 'two'], none: undefined, big: 10n, user: { password: 'canary' } };
  cyclic.self = cyclic;
  runForRequest(info, () => {
    app.info(cyclic, 'Order of ada@example.org');
    app.error(new TypeError('no row'), 'It failed.');
  });
  expect(lines).toMatchObject([{ level: 50, err: { message: 'no row' } }]);
  const { breadcrumbs } = fail();
  expect(breadcrumbs).toMatchObject([
    { level: 'info', data: { list: [1, 'two'], big: '10n', self: { self: '[circular]' } } },
    { level: 'error', data: { err: { message: 'no row' } } },
  ]);
  expect(JSON.stringify(breadcrumbs)).not.toMatch(/canary|ada@example/);
});
