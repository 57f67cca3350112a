import { onTestFinished } from 'vitest';
import { createFolder } from '../../support/folder.ts';
import { createTestLog } from '../../support/test-log.ts';
import { openTestDesk, type TestDeskOptions } from './desk.ts';

/** Opens a desk that is closed at the end of the test, in a folder of its own by default. */
export async function useDesk(options: TestDeskOptions = {}) {
  const { log, lines } = createTestLog();
  const { dataDir = createFolder(onTestFinished) } = options;
  const desk = await openTestDesk({ log, ...options, dataDir });
  onTestFinished(() => desk.close());
  return { desk, dataDir, lines };
}
