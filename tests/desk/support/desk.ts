import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Desk, type DeskOptions, openDesk } from '../../../src/desk/server/desk.ts';
import type { DeskReports } from '../../../src/desk/server/worker/worker-thread.ts';
import type { Failure } from '../../../src/server/errors/failure.ts';
import { InFlight } from '../../../src/server/front/in-flight.ts';
import { toOccurrence } from '../../../src/shared/reporting/address.ts';
import { Day, MiB } from '../../../src/shared/units.ts';
import { createTestLog } from '../../support/test-log.ts';

/** The built desk worker. Loading it from source takes three times as long. */
const workerFile = fileURLToPath(new URL('../../../dist/server/desk-worker.js', import.meta.url));

/** A unique failure, with the given properties. */
export function createFailure(wanted: Partial<Failure> = {}): Failure {
  const id = randomBytes(16);
  return {
    id: id.toString('hex'),
    digest: '7K3QM2XA',
    occurrence: toOccurrence(id.toString('hex')),
    kind: 'exception',
    side: 'server',
    origin: 'loader',
    at: Date.now(),
    build: 'build-1',
    release: 'v1',
    title: 'TypeError: boom',
    errors: [{ class: 'TypeError', message: 'boom', frames: [] }],
    route: '/orders/:id',
    requestId: id.toString('hex'),
    ...wanted,
  };
}

/** The default retention. */
export const TEST_RETENTION = { maxAge: 90 * Day, maxBytes: 500 * MiB };

export type TestDeskOptions = Partial<DeskOptions['running'] & DeskOptions['storing'] & DeskOptions & DeskReports>;

/** Opens a desk as the server does, with its worker thread. */
export function openTestDesk({ dataDir, ...options }: TestDeskOptions & { readonly dataDir: string }): Promise<Desk> {
  const { build = 'build-1', release = 'v1', environment = 'production', namespace = 'test' } = options;
  const { dist = join(dataDir, 'dist'), databaseUrl, retention = TEST_RETENTION, notify, retryFirst } = options;
  const { inFlight = new InFlight().shared, log = createTestLog().log, count, onBlocked = () => undefined } = options;
  return openDesk(
    {
      running: { build, release, environment, namespace, dist },
      storing: { dataDir, databaseUrl, retention, notify, retryFirst },
      inFlight,
      workerFile: options.workerFile ?? workerFile,
      startWithin: options.startWithin,
    },
    { log, count, onBlocked },
  );
}
