import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { indexSource } from '../../../build/locations/index-source.mjs';
import { openSourceIndex } from '../../../build/locations/source-index-cache.mjs';

it('returns the index of an unchanged source from the last build, and another one for changed text or helpers', async () => {
  // Another helper each time, so that no earlier run has kept an index.
  const helpers = [`src/${randomUUID()}.ts`];
  const source = 'export function check(value) { if (!value) throw new Error("no value"); }';
  const first = await openSourceIndex({ helpers });
  const made = first.index('src/a.ts', source, { helpers });
  expect(made).toEqual(indexSource('src/a.ts', source, { helpers }));
  expect(first.index('src/a.ts', source, { helpers })).toBe(made);
  await first.save();

  const second = await openSourceIndex({ helpers });
  const kept = second.index('src/a.ts', source, { helpers });
  expect(kept).toEqual(made);
  expect(kept).not.toBe(made);
  const renamed = source.replace('check', 'verify');
  expect(second.index('src/a.ts', renamed, { helpers })).toEqual(indexSource('src/a.ts', renamed, { helpers }));
  const helper = second.index(helpers[0] ?? '', source, { helpers });
  expect(helper.locations.some(({ isHelper }) => isHelper)).toBe(true);
});
