import { expect, it } from 'vitest';
import { checkChangedFiles } from '../../../../src/server/doctor/environment/check-changed-files.ts';

const check = (changed: readonly string[]) => checkChangedFiles(JSON.stringify({ changed, total: 900 }));

it('says nothing without sources, or if nothing says whose the files are', () => {
  expect(checkChangedFiles(undefined)).toBeUndefined();
  expect(checkChangedFiles('null')).toBeUndefined();
});

it('accepts files as they were released', () => {
  expect(check([])).toMatchObject({ mark: 'ok', found: 'All 900 are as they were released.' });
});

it('names the changed files, but not hundreds', () => {
  expect(check(['a.ts'])).toMatchObject({ mark: 'warning', found: '1 of 900 were changed or removed here: a.ts.' });
  const { found = '' } = check(Array.from({ length: 12 }, (_, number) => `${number}.ts`)) ?? {};
  expect(found).toMatch(/: 0\.ts, .*, 9\.ts and 2 more\.$/);
});
