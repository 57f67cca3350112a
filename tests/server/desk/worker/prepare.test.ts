import { describe, expect, it } from 'vitest';
import { createPrepare } from '../../../../src/server/desk/worker/prepare.ts';
import type { DigestInput, DigestResult } from '../../../../src/server/engine/errors/digest/create-digest.ts';
import type { Failure } from '../../../../src/server/engine/errors/failure.ts';
import { createFailure } from '../../../support/desk.ts';
import { createTestLog } from '../../../support/test-log.ts';

const made: DigestResult = { digest: 'NEWD1GES', rule: 2, kind: 'exception', title: 'TypeError: new' };

function setUp({
  sites = '{}' as string | null,
  resolve = async (failure: Failure) => ({ ...failure, resolved: [] }),
} = {}) {
  const asked: (string | undefined)[] = [];
  const { log, lines } = createTestLog();
  const prepare = createPrepare({
    maps: { resolve },
    digester: {
      rule: 2,
      createDigest: (_input: DigestInput, text) => {
        asked.push(text);
        return made;
      },
      findFunction: () => undefined,
    },
    readLocations: async () => sites ?? undefined,
    log,
  });
  return { prepare, asked, lines };
}

const full = (wanted: Partial<Failure> = {}) => ({ entry: 'full' as const, failure: createFailure(wanted) });

describe('an ingested failure', () => {
  it('keeps its digest if there is no table', async () => {
    const { prepare } = setUp({ sites: null });
    const [entry] = await prepare([full({ unresolved: true })]);
    expect(entry).toMatchObject({ failure: { digest: '7K3QM2XA', unresolved: true } });
    expect(entry).not.toHaveProperty('shownAs');
  });

  it('has its frames resolved if it can be stored in full: a hundred of a digest', async () => {
    const { prepare } = setUp();
    const entries = await prepare(Array.from({ length: 150 }, () => full()));
    const resolved = entries.map((entry) => entry.entry === 'full' && entry.failure.resolved !== undefined);
    expect(resolved.lastIndexOf(true)).toBe(99);
    expect(resolved.slice(0, 100).every(Boolean)).toBe(true);
  });

  it('is stored even if its maps cannot be read', async () => {
    const { prepare, lines } = setUp({ resolve: () => Promise.reject(new Error('broken')) });
    const [entry] = await prepare([full()]);
    expect(entry).toMatchObject({ failure: { digest: '7K3QM2XA' } });
    expect(lines).toHaveLength(1);
  });
});
