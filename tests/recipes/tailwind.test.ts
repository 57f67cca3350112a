import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { useRecipe } from './recipe.ts';

// Adds a page with a CSS module to the recipe.
const app = useRecipe('tailwind', (it) => {
  it.write({
    'src/shared/product/pages/other/other.tsx': `
      import styles from './other.module.css';
      export default function Other() { return <h1 className={'flex ' + styles.head}>Other</h1>; }`,
    'src/shared/product/pages/other/other.module.css': '.head { color: green }',
  });
  const other = "{ id: 'other', path: '/other', page: () => import('./pages/other/other.tsx') }, { id: 'home'";
  it.replace('src/shared/product/routes.tsx', "{ id: 'home'", other);
  it.replace('src/server/product/pages/index.ts', 'home: null', 'home: null, other: null');
});

it('builds one style sheet with only the rules that pages use, together with CSS modules', async () => {
  const { url } = await app.start();
  const html = await (await fetch(url)).text();
  expect(html).toContain('class="text-water hover:underline sm:text-3xl ');
  const sheets = [...html.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)].map(([, href]) => href);
  expect(sheets).toHaveLength(1);
  const reply = await fetch(url + sheets[0]);
  expect(reply.headers.get('cache-control')).toContain('immutable');
  const css = await reply.text();
  expect(css).toMatch(/--color-water:\s*#1d6fa5/);
  for (const name of ['.text-water', '.hover\\:underline', '.sm\\:text-3xl', '.mx-auto', 'pl-\\[3px\\]', '.flex'])
    expect(css).toContain(name);
  expect(css).not.toContain('.grid');
  expect(css).not.toMatch(/@(?:theme|source|apply|tailwind|utility)\b/);
  const { other } = JSON.parse(readFileSync(join(app.folder, 'dist/manifest.json'), 'utf8')).routes;
  const [sheet = ''] = other.styles;
  expect(readFileSync(join(app.folder, 'dist/client', sheet), 'utf8')).toMatch(/\.other_\w+_head\{color:green\}/);
});
