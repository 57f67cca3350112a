import { afterEach, expect, it, vi } from 'vitest';
import type { ProductServices } from '../../../src/server/define-product.ts';
import { emptyLocationTable, type LocationTable } from '../../../src/server/errors/digest/location-table.ts';
import { report, reportTo } from '../../../src/server/errors/report.ts';
import { openServices } from '../../../src/server/start/services.ts';
import { StartError } from '../../../src/server/start-error.ts';
import { createTestLog } from '../../support/test-log.ts';

const settings = { database: 'postgres://app:correct-horse@db.example/app' };

/** Opens the services of a product, and collects the failures that are reported. */
function open<Services>(product: ProductServices<typeof settings, Services> | undefined) {
  const failed: unknown[] = [];
  const { log, lines } = createTestLog();
  reportTo({
    toUrl: () => undefined,
    record: () => '',
    fail(error) {
      const digest = `address ${failed.push(error)}`;
      return { kind: 'error', error: { kind: 'failure', status: 500, digest } };
    },
  });
  const scrubber = { text: (text: string) => text.replaceAll('correct-horse', '[redacted]') };
  const table: LocationTable = {
    ...emptyLocationTable,
    find(frame) {
      const found = emptyLocationTable.find(frame);
      return found && { ...found, owner: found.path.endsWith('.test.ts') ? 'product' : found.owner };
    },
  };
  return { opened: openServices(product, settings, { scrubber, log, table: () => table }), failed, lines };
}

afterEach(() => void vi.useRealTimers());

it('services can log, and report the failures of background work', async () => {
  const broken = new Error('the queue is broken');
  const { opened, failed, lines } = open({
    open(_settings, { log }) {
      log.info({ jobs: 2 }, 'Jobs are waiting.');
      return report(broken);
    },
  });
  expect((await opened).services).toBe('address 1');
  expect(failed).toEqual([broken]);
  expect(lines).toMatchObject([{ level: 'info', message: 'Jobs are waiting.', fields: { jobs: 2 } }]);
});

it('services that cannot be opened stop the start, with the error and its location but no secrets', async () => {
  const { opened } = open({
    open({ database }) {
      throw new Error(`cannot connect to ${database}`, { cause: new Error('ECONNREFUSED') });
    },
  });
  const error = await opened.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(StartError);
  expect(String(error)).toMatch(
    /services cannot be opened, so the server does not start:\nError: cannot connect to .*\nCaused by Error: ECONNREFUSED\n {4}at tests\/server\/start\/services\.test\.ts:\d+(?:\n {4}at [^\n]+)*$/,
  );
  expect(String(error)).not.toContain('correct-horse');
});

it('services that do not close are reported, and have 3 seconds', async () => {
  const broken = new Error('already closed');
  const first = open({ open: () => 1, close: () => Promise.reject(broken) });
  await (await first.opened).close();
  expect(first.failed).toEqual([broken]);
  vi.useFakeTimers();
  const { opened, failed, lines } = open({ open: () => 1, close: () => new Promise(() => {}) });
  const closing = (await opened).close();
  await vi.advanceTimersByTimeAsync(3000);
  await closing;
  expect(lines.map(({ message }) => message)).toEqual(["The product's services did not close in time."]);
  expect(failed).toEqual([]);
});
