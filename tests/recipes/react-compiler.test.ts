import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';
import { expect, it } from 'vitest';
import { openPage, useRecipe } from './recipe.ts';

// Renders a list that must not be filtered again when only the counter changes. Line 17 throws.
const app = useRecipe(
  'react-compiler',
  (it) => {
    it.write({
      'src/shared/product/pages/home/home.tsx': `import { useState } from 'react';

interface Item {
  readonly name: string;
}

const items: Item[] = [{ name: 'a' }, { name: 'b' }];
const filter = (all: readonly Item[]) => {
  console.info('filtered');
  return all.filter(({ name }) => name > 'a');
};

export default function Home() {
  const [clicks, setClicks] = useState(0);
  const shown = filter(items);
  if (clicks > 2) {
    throw new Error('Too many clicks.');
  }
  return (
    <>
      <title>Home</title>
      <button type="button" onClick={() => setClicks(clicks + 1)}>
        {clicks} clicks
      </button>
      <p>{shown.length} shown</p>
    </>
  );
}
`,
    });
  },
  { withPackages: true },
);

it('memoizes and hydrates without a mismatch', async () => {
  const { url } = await app.start();
  const said: string[] = [];
  const { page, complaints } = await openPage(url, {
    before: (page) => page.on('console', (message) => message.type() === 'info' && said.push(message.text())),
  });
  await page.getByText('1 shown').waitFor();
  for (const clicks of [1, 2]) {
    await page.getByRole('button').click();
    await page.getByText(`${clicks} clicks`).waitFor();
  }
  expect(said).toEqual(['filtered']);
  expect(complaints).toEqual([]);
});

it.each(['client/assets/home-*.js', 'server/site.js'])('leads a failure to the line of the source: %s', (pattern) => {
  const dist = join(app.folder, 'dist');
  const [file = ''] = globSync(pattern, { cwd: dist });
  const [before = ''] = readFileSync(join(dist, file), 'utf8').split(/Error\("Too many clicks/);
  const map = new TraceMap(readFileSync(join(dist, `maps/${file}.map`), 'utf8'));
  const lines = before.split('\n');
  const { source, line } = originalPositionFor(map, { line: lines.length, column: lines.at(-1)?.length ?? 0 });
  expect(`${source}:${line}`).toMatch(/src\/shared\/product\/pages\/home\/home\.tsx:17$/);
});
