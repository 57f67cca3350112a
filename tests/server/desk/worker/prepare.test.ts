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

const whole = (wanted: Partial<Failure> = {}) => ({ entry: 'whole' as const, failure: createFailure(wanted) });

describe('an ingested failure', () => {
  it('gets its digest from the table of its build, and is found by the one that was shown', async () => {
    const { prepare, asked } = setUp();
    const [intake] = await prepare([whole({ unresolved: true, weak: true })]);
    expect(intake).toMatchObject({ shownAs: '7K3QM2XA', failure: made });
    expect(intake?.entry === 'whole' && ('unresolved' in intake.failure || 'weak' in intake.failure)).toBe(false);
    expect(asked).toEqual(['{}']);
  });

  it('keeps its digest if there is no table', async () => {
    const { prepare } = setUp({ sites: null });
    const [intake] = await prepare([whole({ unresolved: true })]);
    expect(intake).toMatchObject({ failure: { digest: '7K3QM2XA', unresolved: true } });
    expect(intake).not.toHaveProperty('shownAs');
  });

  it('has its frames resolved if it can be kept: the first of an hour and the newest of a batch', async () => {
    const { prepare } = setUp();
    const intakes = await prepare(Array.from({ length: 150 }, () => whole()));
    const resolved = intakes.map((intake) => intake.entry === 'whole' && intake.failure.resolved !== undefined);
    expect(resolved.slice(0, 110).every(Boolean)).toBe(true);
    expect(resolved.filter(Boolean)).toHaveLength(130);
    expect(resolved.slice(-20).every(Boolean)).toBe(true);
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
      const [intake] = await prepare([whole({ kind, site: undefined })]);
      return intake?.entry === 'whole' ? intake.failure.site : undefined;
    }
    expect(await siteOf([...clock, ...around, ...layout])).toMatchObject({ function: 'Clock' });
    expect(await siteOf([...around, ...layout])).toMatchObject({ path: 'src/shared/product/home.tsx' });
    expect(await siteOf([component('', 'i', 0), ...layout])).toBeUndefined();
    expect(await siteOf([...clock, ...layout], 'exception')).toBeUndefined();
  });

  it('is stored even if its maps cannot be read', async () => {
    const { prepare, lines } = setUp({ resolve: () => Promise.reject(new Error('broken')) });
    const [intake] = await prepare([whole()]);
    expect(intake).toMatchObject({ failure: { digest: '7K3QM2XA' } });
    expect(lines).toHaveLength(1);
  });
});
