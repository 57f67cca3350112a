import { expect, it } from 'vitest';
import { mergeManifest } from '../../bin/upgrade/merge-manifest.mjs';

it.each([
  ['4.2.0', '4.1.0', '4.2.0'],
  ['4.0.9', '4.0.10', '4.0.10'],
  ['^5.0.0', '4.1.0', '^5.0.0'],
  ['4.1.0-beta.1', '4.1.0', 'yours, reported'],
  ['file:../zod', '4.1.0', 'yours, reported'],
])('an upgrade of a package from your %s to %s gives %s', (yours, theirs, expected) => {
  const [base, own, next] = ['4.0.0', yours, theirs].map((zod) => ({ dependencies: { zod } }));
  const { merged, conflicts } = mergeManifest(base ?? {}, own ?? {}, next ?? {});
  const isReported = expected.startsWith('yours');
  expect(merged).toEqual({ dependencies: { zod: isReported ? yours : expected } });
  expect(conflicts).toEqual(
    isReported ? [`package zod: you have ${JSON.stringify(yours)}, the release has ${JSON.stringify(theirs)}`] : [],
  );
});
