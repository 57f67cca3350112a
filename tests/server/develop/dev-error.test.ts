import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { toBrowserError } from '../../../src/server/develop/dev-error.ts';
import { createFolder } from '../../support/folder.ts';

const none = { modules: {} };

it.each([
  [
    'Chrome',
    'Error: no\n    at load (/app/src/a.ts:3:4)\n    at async pay (/app/src/b.ts:1:2)\n    at /app/src/c.ts:5:6',
  ],
  ['Firefox', 'load@/app/src/a.ts:3:4\nasync*pay@/app/src/b.ts:1:2\n@/app/src/c.ts:5:6\n'],
  ['Safari', 'load@/app/src/a.ts:3:4\npay@/app/src/b.ts:1:2\n@/app/src/c.ts:5:6'],
])('finds the source of an error in %s', (_browser, stack) => {
  const { problems } = toBrowserError({ title: 'It broke', message: 'Error: no', stack }, '/app/dist', none);
  const trail = ['at load (src/a.ts:3:4)', 'at pay (src/b.ts:1:2)', 'at src/c.ts:5:6'];
  expect(problems).toMatchObject([{ file: 'src/a.ts', line: 3, trail }]);
});

it('shows the source of the modules that browsers load, and of no other file', () => {
  const root = createFolder(onTestFinished);
  for (const name of ['page.tsx', '.env', 'server.ts']) writeFileSync(join(root, name), `${name}\n`);
  const read = (file: string) => {
    const thrown = { title: 'It broke', message: 'no', stack: `Error: no\n    at f (${root}/${file}:1:1)` };
    const modules = { 'page.tsx': '/_dev/modules/page.js' };
    return toBrowserError(thrown, join(root, 'dist'), { modules }).problems[0]?.lines;
  };
  expect(read('page.tsx')).toEqual([
    [1, 'page.tsx'],
    [2, ''],
  ]);
  for (const file of ['.env', 'server.ts', 'x/../../../../../../etc/passwd', 'x/../page.tsx'])
    expect(read(file)).toEqual([]);
});

it('shows the tree of a hydration mismatch below the source', () => {
  const message = 'Hydration failed.\n\nhttps://react.dev/link/hydration-mismatch\n\n  <Home>\n+   1\n-   2\n';
  const stack = `Error: ${message}\n    at throwOn (/app/node_modules/react-dom/x.js:3:4)\n    at Home (/app/src/shared/product/home.tsx:8:37)`;
  const [problem] = toBrowserError({ title: 'No', message, stack }, '/app/dist', none).problems;
  expect(problem).toMatchObject({
    text: 'Hydration failed.\n\nhttps://react.dev/link/hydration-mismatch',
    file: 'src/shared/product/home.tsx',
    trail: ['  <Home>', '+   1', '-   2', '', 'at throwOn (node_modules/react-dom/x.js:3:4)', expect.any(String)],
  });
});
