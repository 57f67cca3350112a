import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { createDeadLetters, toDeadLetterFile } from '../../../../src/server/desk/worker/dead-letters.ts';
import { createFailure } from '../../../support/desk.ts';
import { createFolder } from '../../../support/folder.ts';
import { createTestLog } from '../../../support/test-log.ts';

it('stores entries up to a size limit, then only counts them', () => {
  const dataDir = createFolder(onTestFinished);
  const { log, lines } = createTestLog();
  const counts: Record<string, number> = { kept: 0, dropped: 0 };
  const letters = createDeadLetters({
    dataDir,
    environment: 'production',
    count: (_name, labels, by = 1) => {
      for (const outcome of Object.values(labels)) counts[outcome] = (counts[outcome] ?? 0) + by;
    },
    log,
    maxBytes: 10_000,
  });
  const letter = { at: 0, reason: 'no', entry: { entry: 'whole' as const, failure: createFailure() } };
  for (let time = 0; time < 100; time++) letters.add([letter, letter]);
  const text = readFileSync(toDeadLetterFile(dataDir), 'utf8');
  expect(text.length).toBeLessThanOrEqual(10_000);
  expect(text.trim().split('\n')).toHaveLength(counts.kept ?? 0);
  expect(counts.kept).toBeGreaterThan(0);
  expect((counts.kept ?? 0) + (counts.dropped ?? 0)).toBe(200);
  expect(lines).toHaveLength(2);
});
