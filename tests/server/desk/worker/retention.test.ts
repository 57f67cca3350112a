import { expect, it } from 'vitest';
import type { RetentionReport } from '../../../../src/server/desk/store/retention.ts';
import type { Store } from '../../../../src/server/desk/store/store.ts';
import { createRetention } from '../../../../src/server/desk/worker/retention.ts';
import { Day } from '../../../../src/shared/units.ts';
import { TEST_RETENTION } from '../../../support/desk.ts';
import { createTestLog } from '../../../support/test-log.ts';

const quiet: RetentionReport = { clockSkew: 0, isRefused: false, deleted: [], bytes: {} };
const full: RetentionReport = { ...quiet, deleted: [{ table: 'desk_wholes', reason: 'size', rows: 7 }] };
const skewed: RetentionReport = { ...quiet, clockSkew: 91 * Day, isRefused: true };

function start(reports: RetentionReport[]) {
  const { log, lines } = createTestLog();
  const store = { bytes: 1000, runs: 0 };
  const fake = {
    retain: async () => reports[store.runs++] ?? quiet,
    usedBytes: async () => store.bytes,
  } as unknown as Store;
  const told: RetentionReport[] = [];
  const onRetained = (report: RetentionReport) => void told.push(report);
  const retention = createRetention({ build: 'build-1', limits: TEST_RETENTION, onRetained, log });
  return { lines, store, told, run: () => retention.run(fake), runIfGrown: () => retention.runIfGrown(fake) };
}

it('logs once that the store is full, and again after it was not', async () => {
  const { run, lines, told } = start([full, full, quiet, full]);
  for (let index = 0; index < 4; index += 1) await run();
  expect(lines.map(({ level, fields }) => [level, fields])).toEqual([
    ['warn', { rows: { desk_wholes: 7 } }],
    ['warn', { rows: { desk_wholes: 7 } }],
  ]);
  expect(lines[0]?.message).toContain('500 MB (DESK_MAX_SIZE)');
  expect(told).toHaveLength(4);
});

it('logs once that a clock is wrong', async () => {
  const { run, lines } = start([skewed, skewed, quiet]);
  for (let index = 0; index < 3; index += 1) await run();
  expect(lines).toMatchObject([{ level: 'error', fields: { minutesAhead: 91 * 24 * 60 } }]);
});

it('runs again as soon as the store has grown', async () => {
  const { run, runIfGrown, store } = start([]);
  await run();
  store.bytes = 1040;
  await runIfGrown();
  expect(store.runs).toBe(1);
  store.bytes = 1060;
  await runIfGrown();
  expect(store.runs).toBe(2);
});
