import { expect, it } from 'vitest';
import { MAX_BATCH_TRIES } from '../../../../src/desk/server/desk-limits.ts';
import { type JournalEntry, toSummary } from '../../../../src/desk/server/ingest/journal-entry.ts';
import { QueryFailedError } from '../../../../src/desk/server/store/sql.ts';
import { createPrepare } from '../../../../src/desk/server/worker/prepare.ts';
import { emptyLocationTable } from '../../../../src/server/errors/digest/location-table.ts';
import { createTestLog } from '../../../support/test-log.ts';
import { createFailure } from '../../support/desk.ts';

type Options = Parameters<typeof createPrepare>[0];

function setUp(resolve: Options['maps']['resolve'], readLocations: Options['readLocations'] = async () => undefined) {
  const { log, lines } = createTestLog();
  return { prepare: createPrepare({ maps: { resolve }, namespace: 'test', readLocations, log }), lines };
}

it('summaries of an older build get the digest of its full failures', async () => {
  const { prepare } = setUp(
    async (failure) => failure,
    async () => emptyLocationTable,
  );
  const failure = createFailure({ unresolved: true, build: 'old' });
  const toEntry = (build: string): JournalEntry => ({ entry: 'summary', summary: { ...toSummary(failure), build } });
  const [full, summary, other] = await prepare([{ entry: 'full', failure }, toEntry('old'), toEntry('new')]);
  expect(full?.digest).not.toBe(failure.digest);
  expect(summary).toMatchObject({ digest: full?.digest, shownAs: failure.digest, occurrence: failure.occurrence });
  expect(other?.digest).toBe(failure.digest);
});

it('failures whose maps cannot be read are stored without them, at once or if the store is always too slow', async () => {
  let error: Error = new Error('broken');
  const { prepare, lines } = setUp(() => Promise.reject(error));
  const entries = [{ entry: 'full', failure: createFailure({ unresolved: true }) }] as const;
  expect(await prepare(entries)).toMatchObject([{ digest: '7K3QM2XA', full: { unresolved: true } }]);
  error = new QueryFailedError('slow', 'statement timeout');
  for (let tried = 1; tried < MAX_BATCH_TRIES; tried += 1) await expect(prepare(entries)).rejects.toThrow('timeout');
  expect(await prepare(entries)).toHaveLength(1);
  expect(lines).toHaveLength(2);
  // Maps that can be read later are waited for again.
  await expect(prepare(entries)).rejects.toThrow('timeout');
});
