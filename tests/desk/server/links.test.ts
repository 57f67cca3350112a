import { expect, it, onTestFinished, vi } from 'vitest';
import { fillLink, toWorkspacePath } from '../../../src/desk/server/links.ts';

const PLACE = { file: 'src/shared/a b#?.tsx', line: 7, release: 'v1/x', title: '../x?a=1&b=#{digest} \ud83d' };

it.each([
  ['https://code.example/{release}/{file}#L{line}', true, 'https://code.example/v1/x/src/shared/a%20b%23%3F.tsx#L7'],
  [
    'https://issues.example/new?title={title}',
    false,
    'https://issues.example/new?title=..%2Fx%3Fa%3D1%26b%3D%23%7Bdigest%7D%20%EF%BF%BD',
  ],
])('all of a text from strangers is escaped in %s, so that none can end its part', (template, isPath, link) => {
  expect(fillLink(template, PLACE, { isPath })).toBe(link);
});

it('in a workspace, the path of a link begins at its top', () => {
  const files = ['src/server/product/a.ts', 'legacy/a.js', 'packages/ui/a.tsx'];
  expect(files.map(toWorkspacePath)).toEqual(files);
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('SPILLWAY_FOLDER', 'apps/web/');
  vi.stubEnv('SPILLWAY_PACKAGES', 'apps/api/,packages/ui/');
  expect(files.map(toWorkspacePath)).toEqual(['apps/web/src/server/product/a.ts', 'apps/web/legacy/a.js', files[2]]);
});
