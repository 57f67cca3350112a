import { afterEach, describe, expect, it, vi } from 'vitest';
import { openServices, ServicesError } from '../../../src/server/boot/services.ts';
import type { Funnel } from '../../../src/server/engine/errors/funnel.ts';
import { report, reportTo } from '../../../src/server/engine/errors/report.ts';
import type { ProductServices } from '../../../src/server/engine/product.ts';
import { createTestLog } from '../../support/test-log.ts';

const settings = { database: 'postgres://app:correct-horse@db.example/app' };

/** Gives each failure an address, and collects what failed. */
function toFunnel(failed: unknown[]): Funnel {
  return {
    toUrl: () => undefined,
    record: () => '',
    fail: (error) => ({
      kind: 'error',
      error: { kind: 'failure', status: 500, digest: `address ${failed.push(error)}` },
    }),
  };
}

function open<Services>(product: ProductServices<typeof settings, Services> | undefined) {
  const failed: unknown[] = [];
  const { log, lines } = createTestLog();
  reportTo(toFunnel(failed));
  const scrubber = { text: (text: string) => text.replaceAll('correct-horse', '[redacted]') };
  return { opened: openServices(product, settings, { scrubber, log }), failed, lines };
}

afterEach(() => void vi.useRealTimers());

describe('services', () => {
  it('are opened with the settings, and closed', async () => {
    const close = vi.fn();
    const { opened } = open({ open: async ({ database }) => ({ database }), close });
    const { services, close: closeAll } = await opened;
    expect(services).toEqual(settings);
    expect(close).not.toHaveBeenCalled();
    await closeAll();
    expect(close).toHaveBeenCalledExactlyOnceWith(settings);
  });

  it('can log, and report the failures of background work', async () => {
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

  it('are optional', async () => {
    const { services, close } = await open(undefined).opened;
    expect(services).toBeUndefined();
    await close();
  });

  it('stop the start if they cannot be opened, with the error and its location but no secrets', async () => {
    const { opened } = open({
      open({ database }) {
        throw new Error(`cannot connect to ${database}`, { cause: new Error('ECONNREFUSED') });
      },
    });
    const error = await opened.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ServicesError);
    expect(String(error)).toMatch(/services cannot be opened, so the server does not start:\nError: cannot connect to/);
    expect(String(error)).toContain('services.test.ts');
    expect(String(error)).toContain('ECONNREFUSED');
    expect(String(error)).not.toContain('correct-horse');
  });

  it('that do not close are reported as a failure', async () => {
    const broken = new Error('already closed');
    const { opened, failed } = open({ open: () => 1, close: () => Promise.reject(broken) });
    await (await opened).close();
    expect(failed).toEqual([broken]);
  });

  it('have 3 seconds to close', async () => {
    vi.useFakeTimers();
    const { opened, failed, lines } = open({ open: () => 1, close: () => new Promise(() => {}) });
    const closing = (await opened).close();
    await vi.advanceTimersByTimeAsync(3000);
    await closing;
    expect(lines.map(({ message }) => message)).toEqual(["The product's services did not close in time."]);
    expect(failed).toEqual([]);
  });
});
