import { describe, expect, it } from 'vitest';
import { createPrepare } from '../../../../src/server/desk/worker/prepare.ts';
import { emptyLocationTable, type LocationTable } from '../../../../src/server/engine/errors/digest/location-table.ts';
import type { Failure } from '../../../../src/server/engine/errors/failure.ts';
import { createFailure } from '../../../support/desk.ts';
import { createTestLog } from '../../../support/test-log.ts';

function setUp({
  table = emptyLocationTable as LocationTable | null,
  resolve = async (failure: Failure) => ({ ...failure, resolved: [] }),
} = {}) {
  const { log, lines } = createTestLog();
  const prepare = createPrepare({
    maps: { resolve },
    namespace: 'test',
    readLocations: async () => table ?? undefined,
    log,
  });
  return { prepare, lines };
}

const full = (wanted: Partial<Failure> = {}) => ({ entry: 'full' as const, failure: createFailure(wanted) });

describe('an ingested failure', () => {
  it('keeps its digest if there is no table', async () => {
    const { prepare } = setUp({ table: null });
    const [entry] = await prepare([full({ unresolved: true })]);
    expect(entry).toMatchObject({ failure: { digest: '7K3QM2XA', unresolved: true } });
    expect(entry).not.toHaveProperty('shownAs');
  });

  it('is stored even if its maps cannot be read', async () => {
    const { prepare, lines } = setUp({ resolve: () => Promise.reject(new Error('broken')) });
    const [entry] = await prepare([full()]);
    expect(entry).toMatchObject({ failure: { digest: '7K3QM2XA' } });
    expect(lines).toHaveLength(1);
  });
});
