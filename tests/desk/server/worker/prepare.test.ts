import { expect, it } from 'vitest';
import { createPrepare } from '../../../../src/desk/server/worker/prepare.ts';
import { createTestLog } from '../../../support/test-log.ts';
import { createFailure } from '../../support/desk.ts';

it('a failure is stored even if its maps and the table of its build cannot be read', async () => {
  const { log, lines } = createTestLog();
  const maps = { resolve: () => Promise.reject(new Error('broken')) };
  const prepare = createPrepare({ maps, namespace: 'test', readLocations: async () => undefined, log });
  const [entry] = await prepare([{ entry: 'full', failure: createFailure({ unresolved: true }) }]);
  expect(entry).toMatchObject({ digest: '7K3QM2XA', full: { unresolved: true } });
  expect(entry).not.toHaveProperty('shownAs');
  expect(lines).toHaveLength(1);
});
