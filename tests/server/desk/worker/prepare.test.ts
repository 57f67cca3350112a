import { describe, expect, it } from 'vitest';
import { createPrepare } from '../../../../src/server/desk/worker/prepare.ts';
import { createDigest } from '../../../../src/server/engine/errors/digest/create-digest.ts';
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
  it('gets its digest from the table of its build, and is found by the one that was shown', async () => {
    const { prepare } = setUp();
    const { failure } = full({ unresolved: true });
    const [entry] = await prepare([{ entry: 'full', failure }]);
    const made = createDigest(failure, { namespace: 'test', table: emptyLocationTable });
    expect(entry).toMatchObject({ shownAs: '7K3QM2XA', failure: { digest: made.digest, title: made.title } });
    expect(entry?.entry === 'full' && 'unresolved' in entry.failure).toBe(false);
  });

  it('keeps its digest if there is no table', async () => {
    const { prepare } = setUp({ table: null });
    const [entry] = await prepare([full({ unresolved: true })]);
    expect(entry).toMatchObject({ failure: { digest: '7K3QM2XA', unresolved: true } });
    expect(entry).not.toHaveProperty('shownAs');
  });

  it('is shown at the component that React names, if it is a mismatch', async () => {
    const component = (file: string, name: string, line = 7) => ({
      file,
      line,
      column: 1,
      function: name,
      own: line > 0,
    });
    const clock = [component('', 'time', 0), component('src/shared/product/clock.tsx', 'Clock')];
    const around = [
      component('src/shared/engine/rendering/await.tsx', 'Await'),
      component('src/shared/product/home.tsx', 'Home'),
    ];
    const layout = [
      component('src/shared/engine/routing/route-view.tsx', 'OwnRoute'),
      component('src/shared/product/layout.tsx', 'Layout'),
    ];
    async function siteOf(components: ReturnType<typeof component>[], kind: Failure['kind'] = 'hydration') {
      const { prepare } = setUp({ resolve: async (failure) => ({ ...failure, resolved: [], components }) });
      const [entry] = await prepare([full({ kind, site: undefined })]);
      return entry?.entry === 'full' ? entry.failure.site : undefined;
    }
    expect(await siteOf([...clock, ...around, ...layout])).toMatchObject({ function: 'Clock' });
    expect(await siteOf([...around, ...layout])).toMatchObject({ path: 'src/shared/product/home.tsx' });
    expect(await siteOf([component('', 'i', 0), ...layout])).toBeUndefined();
    expect(await siteOf([...clock, ...layout], 'exception')).toBeUndefined();
  });

  it('is stored even if its maps cannot be read', async () => {
    const { prepare, lines } = setUp({ resolve: () => Promise.reject(new Error('broken')) });
    const [entry] = await prepare([full()]);
    expect(entry).toMatchObject({ failure: { digest: '7K3QM2XA' } });
    expect(lines).toHaveLength(1);
  });
});
